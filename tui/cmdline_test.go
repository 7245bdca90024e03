package tui

import (
	"strings"
	"testing"
)

// What undo and history keep of large pastes is bounded, and the newest of it is there.
func TestLinesThatAreKeptAreBounded(t *testing.T) {
	kept := func(states []lineState) (n int) {
		for _, s := range states {
			n += len(s.pieces)
		}
		return n
	}
	var c commandLine
	const erased = 8
	for range maxKeptPieces/maxLine + 1 {
		c.paste(strings.Repeat("x", maxLine))
		for range erased {
			c.edit(actBackspace)
		}
		if n := kept(c.undo); n > maxKeptPieces {
			t.Fatalf("%d pieces can be undone", n)
		}
		c.edit(actUndo)
		if n := len(c.pieces); n != maxLine-erased+1 {
			t.Fatalf("undo brings back %d pieces", n)
		}
		c.insert("end", false)
		c.take()
		if n := kept(c.history); n > maxKeptPieces {
			t.Fatalf("the history has %d pieces", n)
		}
	}
	if c.edit(actOlder); !strings.HasSuffix(c.text(), "xend") {
		t.Error("the newest line is not in the history")
	}
	for range 2 * maxHistory {
		c.clear()
		c.insert("a", false)
		c.take()
		c.insert("b", false)
		c.take()
	}
	if len(c.history) != maxHistory {
		t.Errorf("the history has %d lines", len(c.history))
	}
}
