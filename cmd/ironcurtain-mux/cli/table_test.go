package cli

import (
	"strings"
	"testing"
)

func TestPrintTable(t *testing.T) {
	var b strings.Builder
	if err := PrintTable(&b, []string{"ID", "STATE"}, nil); err != nil || b.String() != "" {
		t.Errorf("without rows: %q, %v", b.String(), err)
	}
	if err := PrintTable(&b, []string{"ID", "STATE"}, [][]string{{"a", "idle"}, {"longer", ""}}); err != nil || b.String() != "ID      STATE\na       idle\nlonger  -\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
