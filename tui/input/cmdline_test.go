package input

import (
	"slices"
	"strings"
	"testing"
)

// Undo and history keep a bounded amount of large pastes, and always the newest.
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

// The pieces of a paste are one step of undo, wherever it is put.
func TestAPasteIsUndoneAtOnce(t *testing.T) {
	var c Line
	c.Insert("before after", false)
	for range len("after") {
		c.Edit(actLeft)
	}
	c.Paste("one\r\n")
	if !c.PasteOn("two\r") || !c.PasteOn("three ") {
		t.Fatal("a piece of the paste is refused")
	}
	if got, want := c.Text(), "before one\ntwo\nthree after"; got != want {
		t.Fatalf("the line is %q, want %q", got, want)
	}
	if c.PasteOn(strings.Repeat("x", maxLine)) {
		t.Error("a piece that is too long is taken")
	}
	c.Edit(actUndo)
	if got, want := c.Text(), "before after"; got != want {
		t.Errorf("after undo the line is %q, want %q", got, want)
	}
}

// A row that is exactly as wide as the window is not followed by an empty row.
func TestRows(t *testing.T) {
	var c Line
	c.Insert("世界 abcde\n\\x\nend", false)
	var got []string
	cursor := -1
	for i, row := range c.Rows(5) {
		got = append(got, c.RowText(row))
		if row.Cursor >= 0 {
			cursor = 10*i + row.Cursor
		}
	}
	if want := []string{"世界 ", "abcde", `\\x`, "end"}; !slices.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	if cursor != 33 {
		t.Errorf("the cursor is at row and column %d, want 33", cursor)
	}
}
