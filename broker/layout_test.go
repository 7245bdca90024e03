package broker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestLayoutIsPrivate(t *testing.T) {
	id, err := newSessionID()
	if err != nil {
		t.Fatal(err)
	}
	l := layoutOf(shortTemp(t), id)
	if err := l.make(callerIdentity()); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{l.dir: 0o700, l.run: 0o700, l.home(): 0o700, l.sockets(): 0o700, l.orientation(): 0o755} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestLongSocketPathIsRefused(t *testing.T) {
	id, err := newSessionID()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(shortTemp(t), strings.Repeat("x", 80))
	err = layoutOf(home, id).make(callerIdentity())
	var p *fault.Error
	if !errors.As(err, &p) || !strings.Contains(p.Hint(), "IRONCURTAIN_HOME") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("directories were made all the same")
	}
}

// An agent can leave links in its home; they lead nowhere for us.
func TestWriteStaysBelowTheHome(t *testing.T) {
	base := shortTemp(t)
	l := layoutOf(base, "01234567-89ab-4cde-8f01-23456789abcd")
	if err := l.make(callerIdentity()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(base, "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(l.home(), ".claude")); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(outside, "victim")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(l.home(), "link")); err != nil {
		t.Fatal(err)
	}
	if err := l.write(t.Context(), []agent.File{{Path: ".claude/settings.json", Mode: 0o600}}, callerIdentity()); err == nil {
		t.Error("a file was written through a link out of the home")
	}
	if err := l.write(t.Context(), []agent.File{{Path: "../x", Mode: 0o600}}, callerIdentity()); err == nil {
		t.Error("a file was written above the home")
	}
	if err := l.write(t.Context(), []agent.File{{Path: "link", Data: []byte("new"), Mode: 0o600}}, callerIdentity()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(target); string(text) != "mine" {
		t.Errorf("the link was followed: %q", text)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("left outside: %v", left)
	}
}

func TestWrittenFilesBelongToTheAgent(t *testing.T) {
	l := layoutOf(shortTemp(t), "01234567-89ab-4cde-8f01-23456789abcd")
	if err := l.make(callerIdentity()); err != nil {
		t.Fatal(err)
	}
	files := append(agent.Accounts(1000, 1000), agent.File{Path: "a/b/c", Data: []byte("x"), Mode: 0o640}, agent.File{Path: "run.sh", Data: []byte("x"), Mode: 0o555, Orientation: true})
	for range 2 { // the second time over what is there
		if err := l.write(t.Context(), files, callerIdentity()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(l.home(), "a", "b", "c"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	info, err = os.Stat(filepath.Join(l.orientation(), "run.sh"))
	if err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", info, err)
	}
}
