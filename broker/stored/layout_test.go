package stored

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestLayoutIsPrivate(t *testing.T) {
	id, err := NewID()
	if err != nil {
		t.Fatal(err)
	}
	l := LayoutOf(shortTemp(t), id)
	if err := l.Make(ContainerUser()); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]os.FileMode{l.Dir: 0o700, l.Run: 0o700, l.Home(): 0o700, l.Sockets(): 0o700, l.Orientation(): 0o755} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestLongSocketPathIsRefused(t *testing.T) {
	id, err := NewID()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(shortTemp(t), strings.Repeat("x", 80))
	err = LayoutOf(home, id).Make(ContainerUser())
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
	l := LayoutOf(base, "01234567-89ab-4cde-8f01-23456789abcd")
	if err := l.Make(ContainerUser()); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(base, "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(l.Home(), ".claude")); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(outside, "victim")
	if err := os.WriteFile(target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(l.Home(), "link")); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(t.Context(), []agent.File{{Path: ".claude/settings.json", Mode: 0o600}}, ContainerUser()); err == nil {
		t.Error("a file was written through a link out of the home")
	}
	if err := l.Write(t.Context(), []agent.File{{Path: "../x", Mode: 0o600}}, ContainerUser()); err == nil {
		t.Error("a file was written above the home")
	}
	if err := l.Write(t.Context(), []agent.File{{Path: "link", Data: []byte("new"), Mode: 0o600}}, ContainerUser()); err != nil {
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
	l := LayoutOf(shortTemp(t), "01234567-89ab-4cde-8f01-23456789abcd")
	if err := l.Make(ContainerUser()); err != nil {
		t.Fatal(err)
	}
	files := append(agent.Accounts(1000, 1000), agent.File{Path: "a/b/c", Data: []byte("x"), Mode: 0o640}, agent.File{Path: "run.sh", Data: []byte("x"), Mode: 0o555, Orientation: true})
	for range 2 { // the second time over what is there
		if err := l.Write(t.Context(), files, ContainerUser()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(l.Home(), "a", "b", "c"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	info, err = os.Stat(filepath.Join(l.Orientation(), "run.sh"))
	if err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("%v, %v", info, err)
	}
}

// A file that is to be kept is written where there is none, and over one of ours.
func TestFilesOfTheAgentAreKept(t *testing.T) {
	const ours = "# ours\nnew\n"
	for name, c := range map[string]struct {
		before func(path string) error
		want   string
	}{
		"none":      {func(string) error { return nil }, ours},
		"ours":      {func(path string) error { return os.WriteFile(path, []byte("# ours\nold\nmore\n"), 0o600) }, ours},
		"another":   {func(path string) error { return os.WriteFile(path, []byte("mine\n# ours\n"), 0o600) }, "mine\n# ours\n"},
		"shorter":   {func(path string) error { return os.WriteFile(path, []byte("# o"), 0o600) }, "# o"},
		"empty":     {func(path string) error { return os.WriteFile(path, nil, 0o600) }, ""},
		"directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "not read"},
		"pipe":      {func(path string) error { return unix.Mkfifo(path, 0o600) }, "not read"},
		"link":      {func(path string) error { return os.Symlink("/dev/zero", path) }, "not read"},
	} {
		t.Run(name, func(t *testing.T) {
			l := LayoutOf(shortTemp(t), "01234567-89ab-4cde-8f01-23456789abcd")
			if err := l.Make(ContainerUser()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(l.Home(), ".npmrc")
			if err := c.before(path); err != nil {
				t.Fatal(err)
			}
			if err := l.Write(t.Context(), []agent.File{{Path: ".npmrc", Data: []byte(ours), Mode: 0o600, Keep: true}}, ContainerUser()); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if err != nil || info.Mode().IsRegular() == (c.want == "not read") {
				t.Fatalf("%v, %v", info.Mode(), err)
			}
			if !info.Mode().IsRegular() {
				return
			}
			if got, err := os.ReadFile(path); string(got) != c.want || err != nil {
				t.Errorf("there is %q, %v", got, err)
			}
		})
	}
}
