package copies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestMakeCopiesFilesDirectoriesAndLinks(t *testing.T) {
	s := newSite(t, `
		echo a > a; mkdir -p dir/empty; echo run > dir/run; chmod 750 dir/run; touch -d 2001-02-03 a
		ln -s a link; ln -s /etc/passwd out; mkfifo pipe`)
	want := "a=a dir/ dir/empty/ dir/run*=run link>a out>/etc/passwd"
	if got := tree(t, s.copy); got != want {
		t.Errorf("copied %s, want %s", got, want)
	}
	is, err := os.Stat(filepath.Join(s.copy, "a"))
	if err != nil || is.ModTime().Year() != 2001 {
		t.Errorf("a is of %v, %v", is.ModTime(), err)
	}
	if !Made(s.note) {
		t.Error("it is not made")
	}
	if got := brief(s.difference().Changes); got != "" {
		t.Errorf("nothing was changed, and there is %s", got)
	}
	again, err := Make(t.Context(), s.origin, s.copy, s.note)
	if err != nil || again != 1 {
		t.Errorf("made again without %d, %v", again, err)
	}
}

func TestMakeRefusesWhatIsTooLarge(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		limits limits
		want   []string
	}{
		"too many files": {"mkdir m n; touch m/1 m/2 m/3 n/1 x", limits{6, 1 << 20, 1 << 20}, []string{"it has 7 files, and the limit is 6", "m (4), n (2), x (1)"}},
		"too much":       {"head -c 3000 /dev/zero > x; mkdir d; head -c 4000 /dev/zero > d/y", limits{9, 5000, 1 << 20}, []string{"6.8 KB", "d (3.9 KB), x (2.9 KB)"}},
		"a large file":   {"mkdir d; head -c 3000 /dev/zero > d/x; touch y", limits{9, 1 << 20, 2048}, []string{"larger than the limit of 2.0 KB", "d/x (2.9 KB)"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			if err := os.Mkdir(from, 0o700); err != nil {
				t.Fatal(err)
			}
			shell(t, from, c.script)
			before := standard
			defer func() { standard = before }()
			standard = c.limits
			_, err = Make(t.Context(), from, to, filepath.Join(dir, "note"))
			if err == nil {
				t.Fatal("it was copied")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, which does not say %q", err, want)
				}
			}
			if !strings.Contains(fault.Hint(err), "--worktree") {
				t.Errorf("hint %q", fault.Hint(err))
			}
			if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was copied: %v", err)
			}
		})
	}
}

func TestNoteKeepsEveryName(t *testing.T) {
	names := []string{"plain", "with space", "quote\"and\\", "line\nbreak", "ünï", "deep/er"}
	n := note{branches: unreadable, nodes: map[string]pair{}}
	for i, name := range names {
		n.nodes[name] = pair{node: node{kind: file, exec: i%2 == 0, size: int64(i), digest: [32]byte{byte(i)}}, origin: stamp{1, 2}, copied: stamp{3, -4}}
	}
	n.nodes["link \" x"] = pair{node: node{kind: link, target: "to \"x\" y\n"}}
	n.nodes["dir"] = pair{node: node{kind: directory}}
	path := filepath.Join(t.TempDir(), "note")
	if err := n.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readNote(path)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(n) {
		t.Errorf("read %v, %v, want %v", got, err, n)
	}
	for _, bad := range []string{"", "copy 2 \"\"\n", "copy 1 \"\"\nf 1 2\n", "copy 1 \"\"\n 1 2 3 4 5\n", "copy 1 \"\"\nz 0 " + strings.Repeat("00", 32) + " 0.0 0.0 \"a\"\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readNote(path); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if _, err := readNote(path + "x"); !errors.Is(err, ErrNotMade) {
		t.Errorf("without a note: %v", err)
	}
}
