package treesync

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func limited(l limits) func(*Options) { return func(o *Options) { o.limits = l } }

// What exceeds a limit stays in the container, and is reported.
func TestLeftThere(t *testing.T) {
	for name, c := range map[string]struct {
		limits          limits
		container, host files
		left            string
		why             string
	}{
		"large":    {limits{Each: 4}, files{"a": "1234", "b": "12345"}, files{"a": "1234"}, "b", "larger than the limit"},
		"together": {limits{Bytes: 6}, files{"a": "1234", "b": "123", "c": "12"}, files{"a": "1234", "c": "12"}, "b", "together"},
		"many":     {limits{Files: 2}, files{"a": "1", "b": "2", "c/d": "3"}, files{"a": "1", "b": "2"}, "b", "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, limited(c.limits))
			write(t, p.container, c.container)
			for range 2 {
				r := p.sync()
				if len(r.Left) != 1 || r.Left[0].Path != c.left || !strings.Contains(r.Left[0].Why, c.why) {
					t.Errorf("left: %+v", r)
				}
				wantFiles(t, p.host, c.host)
				wantFiles(t, p.container, c.container)
			}
		})
	}
}

// When a file outgrows its limit in the container, the host keeps its last copy.
func TestGrowsAboveTheLimit(t *testing.T) {
	p := start(t, limited(limits{Each: 4}))
	write(t, p.container, files{"a": "1", "d/b": "1", "x": "1"})
	p.sync()
	write(t, p.container, files{"a": "12345", "d": "12345"})
	p.sync()
	wantFiles(t, p.host, files{"a": "1", "d/b": "1", "x": "1"})
	write(t, p.container, files{"a": "2", "d": "3"})
	p.sync()
	wantFiles(t, p.host, files{"a": "2", "d": "3", "x": "1"})
}

// A file of the host that cannot be put because something that is not copied has its path is reported.
func TestLeftThereHidesOurs(t *testing.T) {
	p := start(t, func(o *Options) { o.limits.Each = 4 })
	write(t, p.container, files{"grows": "1", "large": "12345", "pipe": "12345", "socket": "12345"})
	for _, name := range []string{"pipe", "socket"} {
		must(t, os.Remove(filepath.Join(p.container, name)))
		must(t, syscall.Mkfifo(filepath.Join(p.container, name), 0o600))
	}
	p.sync()
	write(t, p.host, files{"pipe/below": "ours"})
	write(t, p.container, files{"grows": "12345"})
	want := map[string]bool{"grows": true, "large": false, "pipe": true}
	r := p.sync()
	for _, l := range r.Left {
		if hides, known := want[l.Path]; !known || l.Hides != hides || l.Why == "" {
			t.Errorf("%+v", l)
		}
	}
	if len(r.Left) != len(want) {
		t.Errorf("left: %+v", r.Left)
	}
}

// The report names at most 20 files.
func TestLeftIsBounded(t *testing.T) {
	p := start(t, limited(limits{Each: 1}))
	for i := range 30 {
		write(t, p.container, files{fmt.Sprint(i): "12"})
	}
	if r := p.sync(); len(r.Left) != 20 || r.More != 10 {
		t.Errorf("%+v", r)
	}
}

// A directory of the host above a limit is refused before anything is sent.
func TestRefusedHere(t *testing.T) {
	for name, c := range map[string]struct {
		limits limits
		why    string
	}{
		"large":    {limits{Each: 4}, "d/large"},
		"together": {limits{Bytes: 6}, "together"},
		"many":     {limits{Files: 2}, "more than 2 files"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, limited(c.limits))
			write(t, p.host, files{"a": "1234", "d/large": "12345", "d/b": "123"})
			_, err := p.tree.Sync(t.Context(), p.client)
			if err == nil || !strings.Contains(err.Error(), c.why) || fault.Hint(err) == "" {
				t.Fatalf("%v (%s)", err, fault.Hint(err))
			}
			wantFiles(t, p.container, nil)
			write(t, p.host, files{"d": "", "b": "1"})
			p.sync()
			p.equal()
		})
	}
}

// If two names are the same to the host's file system, the second one stays in the container, with
// all below it.
func TestNamesThatMerge(t *testing.T) {
	p := start(t)
	p.tree.look = func(dir *os.Root, name string) (fs.FileInfo, error) {
		f, err := dir.Open(".")
		must(t, err)
		defer f.Close()
		names, err := f.Readdirnames(-1)
		must(t, err)
		for _, n := range names {
			if strings.EqualFold(n, name) && !temporary(n) {
				return dir.Lstat(n)
			}
		}
		return nil, fs.ErrNotExist
	}
	write(t, p.container, files{"Makefile": "1", "makefile": "2", "Src/a": "3", "src/a": "4", "src/b": "5"})
	for range 2 {
		r := p.sync()
		slices.SortFunc(r.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
		if len(r.Left) != 2 || r.Left[0].Path != "makefile" || r.Left[1].Path != "src" {
			t.Errorf("%+v", r)
		}
		wantFiles(t, p.host, files{"Makefile": "1", "Src/a": "3"})
		wantFiles(t, p.container, files{"Makefile": "1", "makefile": "2", "Src/a": "3", "src/a": "4", "src/b": "5"})
	}
	write(t, p.container, files{"Makefile": "", "Src": ""})
	p.sync()
	p.equal()
	write(t, p.container, files{"makefile": "", "MAKEFILE": "2"})
	p.sync()
	p.equal()
}

// No mode keeps a file from being copied: files that their owner cannot read or write, and
// directories that are read-only.
func TestModes(t *testing.T) {
	p := start(t)
	write(t, p.container, files{"only": "2", "run": "3", "d/x": "4"})
	for path, mode := range map[string]fs.FileMode{"only": 0o444, "run": 0o755, "d": 0o555} {
		must(t, os.Chmod(filepath.Join(p.container, path), mode))
	}
	p.sync()
	for path, want := range map[string]fs.FileMode{"only": 0o444, "run": 0o755, "d": fs.ModeDir | 0o755} {
		info, err := os.Stat(filepath.Join(p.host, path))
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has %v, not %v", path, info.Mode(), want)
		}
	}
	if r := p.sync(); r.Fetched+r.Put > 0 {
		t.Errorf("%+v", r)
	}
	write(t, p.host, files{"run": "5", "d/y": "6", "only": ""})
	must(t, os.Chmod(filepath.Join(p.host, "d/y"), 0))
	must(t, os.Chmod(filepath.Join(p.host, "d"), 0))
	if r := p.sync(); r.Put != 4 { // d too, which others may no longer read
		t.Errorf("%+v", r)
	}
	p.equal()
}

// A file that the container's end cannot read is left there, and everything else is copied. As root
// it can read all files.
func TestUnreadableThere(t *testing.T) {
	p := start(t)
	write(t, p.container, files{"a": "1", "none": "2", "z": "3"})
	must(t, os.Chmod(filepath.Join(p.container, "none"), 0))
	r := p.sync()
	if len(r.Left) == 1 && r.Left[0].Path == "none" {
		wantFiles(t, p.host, files{"a": "1", "z": "3"})
		return
	}
	wantFiles(t, p.host, files{"a": "1", "none": "2", "z": "3"})
	info, err := os.Stat(filepath.Join(p.host, "none"))
	must(t, err)
	if info.Mode() != 0o400 || len(r.Left) > 0 {
		t.Errorf("%v, %+v", info.Mode(), r)
	}
}
