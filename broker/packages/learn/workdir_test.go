package learn

import (
	"os"
	"path/filepath"
	"testing"
)

// What a killed process left is removed, but never while any process runs a tool.
func TestLeftovers(t *testing.T) {
	h := Host{Dir: filepath.Join(t.TempDir(), "state")}
	if left, err := Leftovers(h.Dir, true); len(left) != 0 || err != nil {
		t.Fatalf("before anything was asked: %v, %v", left, err)
	}
	used, done, err := h.empty()
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(filepath.Dir(used), "ask-killed")
	if err := os.MkdirAll(filepath.Join(killed, "package", "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if left, err := Leftovers(h.Dir, true); len(left) != 0 || err != nil {
		t.Fatalf("while a tool runs: %v, %v", left, err)
	}
	again, doneAgain, err := h.empty()
	if err != nil || again == used {
		t.Fatalf("a second tool gets %s, %v", again, err)
	}
	doneAgain()
	done()
	for _, remove := range []bool{false, true} {
		if left, err := Leftovers(h.Dir, remove); len(left) != 1 || left[0] != killed || err != nil {
			t.Fatalf("after the tools, removing %v: %v, %v", remove, left, err)
		}
	}
	if left, err := Leftovers(h.Dir, true); len(left) != 0 || err != nil {
		t.Fatalf("after the removal: %v, %v", left, err)
	}
}
