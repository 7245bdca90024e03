package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// /attach hands the files' paths to the broker and types those of the copies, without Enter.
func TestAttach(t *testing.T) {
	r := newHarness(t, 110, 24, demo())
	r.agentSays(1, agentScreen)
	dir := t.TempDir()
	r.keys("\x01/attach " + dir + "/a\\ b.png 'file://" + dir + "/c%20d.png'\r")
	r.keys("\x01/attach\r")
	if want := []string{fmt.Sprintf("attach %q", []string{dir + "/a b.png", dir + "/c d.png"}), "attach []"}; !slices.Equal(r.broker.carried, want) {
		t.Errorf("asked for %q", r.broker.carried)
	}
	if got := r.queued(1); got != "/attachments/a.png /attachments/b.png /attachments/a.png /attachments/b.png " {
		t.Errorf("typed %q", got)
	}
	if !strings.Contains(r.screen(), "attached to claude-code s1: /attachments/a.png") {
		t.Errorf("it is not said:\n%s", r.screen())
	}
	r.broker.carryErr = errors.New("attach: /x is a directory")
	r.keys("\x01/attach /x\r")
	if !strings.Contains(r.screen(), "attach: /x is a directory") {
		t.Errorf("the error is not shown:\n%s", r.screen())
	}
	r.keys("\x01/attach 'x\r")
	if !strings.Contains(r.screen(), "/attach: the text ends within a quote") {
		t.Errorf("the error is not shown:\n%s", r.screen())
	}
}

// /save asks for a file of the container, by default into the current directory.
func TestSave(t *testing.T) {
	r := newHarness(t, 110, 24, Options{})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r.keys("\x01/save out.txt\r\x01/save -f ~/a /tmp/b\r")
	want := []string{fmt.Sprintf("save %q to %q false", "out.txt", here), `save "~/a" to "/tmp/b" true`}
	if !slices.Equal(r.broker.carried, want) {
		t.Errorf("asked for %q", r.broker.carried)
	}
	if !strings.Contains(r.screen(), "saved as /tmp/b") {
		t.Errorf("it is not said:\n%s", r.screen())
	}
	for _, wrong := range []string{"", "a b c", "-f"} {
		r.keys("\x01/save " + wrong + "\r")
		if !strings.Contains(r.screen(), "takes a file of the container") {
			t.Errorf("%q: no error:\n%s", wrong, r.screen())
		}
		r.keys("\x15\x1b")
	}
}

// The path of a file of the host that is pasted into a tab is offered once, and it reaches
// the agent all the same.
func TestPastedPathIsOffered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shot.png")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const offer = "the agent cannot see"
	for pasted, offered := range map[string]bool{
		file: true, "'" + file + "' ": true, "file://" + file: true,
		"look at " + file: false, filepath.Dir(file): false, file + "x": false, "shot.png": false,
		file + strings.Repeat(" ", maxOffered): false,
	} {
		r := newHarness(t, 110, 24, demo())
		r.agentSays(1, agentScreen)
		r.keys("\x1b[200~" + pasted + "\x1b[201~")
		if strings.Contains(r.screen(), offer) != offered {
			t.Errorf("%q is offered: %v\n%s", pasted, !offered, r.screen())
		}
		r.m.toasts, r.m.dirty = nil, true
		r.keys("\x1b[200~" + pasted + "\x1b[201~")
		if strings.Contains(r.screen(), offer) {
			t.Errorf("%q is offered twice", pasted)
		}
		if got := r.queued(1); got != pasted+pasted {
			t.Errorf("typed %q", got)
		}
	}
}
