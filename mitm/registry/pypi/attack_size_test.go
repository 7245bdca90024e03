package pypi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Files in TOML with very many members in one table take no longer than others: what names the
// program that builds an archive is not read then, and a lockfile to its end.
func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&b, "k%d=1\n", i)
	}
	if got := backend([]byte(b.String())); got != "pyproject.toml (unreadable)" {
		t.Errorf("it is built by %s", got)
	}
	b.WriteString("[[package]]\nname = \"Left_Pad\"\nversion = \"1.0.0\"\n\n[package.dependencies]\nname = \"no\"\n")
	if got := (Ecosystem{}).Pins("poetry.lock", []byte(b.String())); !slices.Equal(got, []registry.Pin{{Name: "left-pad", Version: "1.0.0"}}) {
		t.Errorf("%v", got)
	}
}
