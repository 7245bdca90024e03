package cargo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// manyMembers are many in one table of a file in TOML.
func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d=1\n", i)
	}
	return b.String()
}

// A lockfile with a million members in one table is read to its end, as soon as any other.
func TestLockfileOfManyMembers(t *testing.T) {
	lock := manyMembers(1_000_000) + "[[package]]\nname = \"left\"\nversion = \"1.0.0\"\nsource = \"registry+https://cargo.example/\"\n"
	if got := (Ecosystem{}).Pins("Cargo.lock", []byte(lock)); !slices.Equal(got, []registry.Pin{{Name: "left", Version: "1.0.0"}}) {
		t.Errorf("%v", got)
	}
}

// A manifest that would take minutes to read is not read.
func TestManifestOfManyMembers(t *testing.T) {
	c := &crate{manifest: []byte("[package]\nname = \"left\"\nversion = \"1.0.0\"\n" + manyMembers(100_000))}
	if err := c.read("left", "1.0.0"); err == nil {
		t.Error("it was read")
	}
}
