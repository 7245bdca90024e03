package ironcurtainmux_test

import (
	"strings"
	"testing"
)

// Every package opens with a paragraph that says what it is for.
func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range packages(t) {
		if len(strings.Fields(p.Doc)) < 4 {
			t.Errorf("%s has no package comment: begin one of its files with a paragraph, // Package … or // Command …", p.ImportPath)
		}
	}
}
