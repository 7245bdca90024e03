package input

import (
	"strings"
	"testing"
)

// Undo and history keep only so much of large pastes, and always the newest.
func TestLinesThatAreKeptAreBounded(t *testing.T) {
	kept := func(states []lineState) (n int) {
		for _, s := range states {
			n += len(s.pieces)
		}
		return n
	}
	var c Line
	const erased = 8
	for range maxKeptPieces/maxLine + 1 {
		c.Paste(strings.Repeat("x", maxLine))
		for range erased {
			c.Edit(ActBackspace)
		}
		if n := kept(c.undo); n > maxKeptPieces {
			t.Fatalf("%d pieces can be undone", n)
		}
		c.Edit(actUndo)
		if n := len(c.Pieces); n != maxLine-erased+1 {
			t.Fatalf("undo brings back %d pieces", n)
		}
		c.Insert("end", false)
		c.Take()
		if n := kept(c.history); n > maxKeptPieces {
			t.Fatalf("the history has %d pieces", n)
		}
	}
	if c.Edit(actOlder); !strings.HasSuffix(c.Text(), "xend") {
		t.Error("the newest line is not in the history")
	}
	for range 2 * maxHistory {
		c.clear()
		c.Insert("a", false)
		c.Take()
		c.Insert("b", false)
		c.Take()
	}
	if len(c.history) != maxHistory {
		t.Errorf("the history has %d lines", len(c.history))
	}
}
