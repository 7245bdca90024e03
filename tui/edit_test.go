package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditScrollback(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "vim -R")
	r := newHarness(t, 20, 6, Options{Scrollback: 100})
	r.agentSays(1, "vim: set modeline:\r\none\r\ntwo\r\nthree\r\n"+strings.Repeat("x", 25)+"\r\n\x1b[31mfive\x1b[m\r\nsix\r\n")
	r.keys("\x01[gjE")
	r.keys("y")
	if r.m.mode != modeTerminal || r.queued(1) != "y" {
		t.Errorf("mode %d, the agent got %q", r.m.mode, r.queued(1))
	}
	heading := "Output of claude-code s1. This is a copy; changes are not kept."
	want := []editing{{
		argv: []string{"vim", "-R", "+7"},
		name: "scrollback-s1.txt",
		text: heading + "\n\n\n\n\nvim: set modeline:\none\ntwo\nthree\n" + strings.Repeat("x", 25) + "\nfive\nsix\n\f\n\n\n\n\n\n",
	}}
	if diff := cmp.Diff(want, r.edited, cmp.AllowUnexported(editing{})); diff != "" {
		t.Error(diff)
	}
}

func TestEditFails(t *testing.T) {
	t.Setenv("VISUAL", "gone")
	r := newHarness(t, 80, 24, Options{})
	r.editErr = errors.New("start gone: not found")
	r.keys("\x01/edit\r")
	r.wants("edit: start gone: not found")
	if diff := cmp.Diff([]string{"gone"}, r.edited[0].argv); diff != "" {
		t.Error(diff)
	}
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	t.Setenv("PATH", t.TempDir())
	r.keys("\x01/edit\r")
	r.wants("edit: there is no editor (set EDITOR to the name of an editor)")
}
