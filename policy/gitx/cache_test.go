package gitx

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hooksPath returns the directory that Obeyed finds git's hooks in.
func hooksPath(t *testing.T, s *Surroundings, file string) string {
	t.Helper()
	named, err := s.View(t.Context()).Obeyed(file, make([]Dir, 99))
	if err != nil || len(named) != 1 {
		t.Fatalf("%v, %v", named, err)
	}
	return named[0].Name
}

// Two writes of equal size between two ticks of the kernel's clock leave a file with the
// same identity, size and times.
func TestWritesBetweenTwoTicks(t *testing.T) {
	dir := tempDir(t)
	config := dir + "/r/.git/config"
	write(t, config, "[core]\n\thooksPath = 0000\n")
	s := NewSurroundings(Home{}, dir)
	for i := range 200 {
		want := strconv.Itoa(1000 + i)
		f, err := os.OpenFile(config, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("[core]\n\thooksPath = " + want + "\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := hooksPath(t, s, dir+"/r/a"); got != dir+"/r/"+want {
			t.Fatalf("after %d writes %q is obeyed, want %q", i, got, want)
		}
		if _, kept := s.known[source{config, asSettings}]; kept { // on some kernels even these writes get different times
			t.Fatal("what has only just been written is kept")
		}
	}
}

// A file that has not changed for some time is not read again, and the cache is bounded.
func TestWhatRestsIsKept(t *testing.T) {
	dir := tempDir(t)
	write(t, dir+"/old", "x")
	var st unix.Stat_t
	if err := unix.Stat(dir+"/old", &st); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(0, unix.TimespecToNsec(st.Ctim))
	for after, want := range map[time.Duration]bool{-time.Hour: false, 0: false, 4 * time.Millisecond: false, time.Second: false, settled + 1: true, time.Hour: true} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			if got := isSettled(unix.TimespecToNsec(st.Ctim), at.Add(after)); got != want {
				t.Errorf("%v after its last change: %v", after, got)
			}
		})
	}
	var c cache
	c.look(source{"/usr", asNames})
	if _, kept := c.known[source{"/usr", asNames}]; !kept {
		t.Error("what has long been there is not kept")
	}
	big := &reading{text: string(make([]byte, 1<<20))}
	for i := range 100 {
		c.keep(source{name: strconv.Itoa(i)}, big)
		c.keep(source{name: strconv.Itoa(i)}, big)
		held := 0
		for name, r := range c.known {
			held += r.weight() + len(name.name)
		}
		if c.weight != held || held > maxKnown {
			t.Fatalf("%d bytes are kept, and %d are counted", held, c.weight)
		}
	}
}

// Two directories with the same times are not confused.
func TestDirectoriesWithoutARepository(t *testing.T) {
	dir := tempDir(t)
	write(t, dir+"/with/.git/HEAD", "")
	write(t, dir+"/none/file", "")
	var c cache
	if !c.lacksRepository(dir+"/none", Dir{Dev: 1, Ino: 1, Changed: 1}) || c.lacksRepository(dir+"/with", Dir{Dev: 1, Ino: 2, Changed: 1}) {
		t.Error("a repository is seen where none is, or none where one is")
	}
	if !c.lacksRepository("not looked at", Dir{Dev: 1, Ino: 1, Changed: 1}) {
		t.Error("what was found out is forgotten")
	}
}

func TestTooManyConfigurations(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	for i := range 6 {
		module := dir + "/r/.git/modules/" + strconv.Itoa(i)
		write(t, module+"/HEAD", "ref: refs/heads/main\n")
		write(t, module+"/objects/x", "")
		write(t, module+"/refs/x", "")
		write(t, module+"/config", strings.Repeat("#", maxConfig-1)+"\n")
	}
	r, err := Open(dir+"/r", Home{})
	if err != nil {
		t.Fatal(err)
	}
	if nested, err := r.Nested(); err == nil {
		t.Errorf("%d repositories with 6 MB of configuration are read", len(nested))
	}
	write(t, dir+"/r/.git/config", "[a]\n"+strings.Repeat("a\n", maxConfig/2-2))
	if _, err := Open(dir+"/r", Home{}); err == nil {
		t.Error("a configuration of half a million variables is read")
	}
}

// A pipe in place of a directory does not block, although nobody writes to it.
func TestPipesInPlaceOfDirectories(t *testing.T) {
	for _, place := range []string{"modules", "branches", "info", "hooks", "objects/info", "objects/ab", "logs"} {
		t.Run(place, func(t *testing.T) {
			dir := tempDir(t)
			mustGit(t, dir, dir, "init", "-q", "r")
			pipe := dir + "/r/.git/" + place
			if err := os.RemoveAll(pipe); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir+"/r", Home{})
			if err != nil {
				t.Fatal(err)
			}
			r.Programs(true, nil)
			_, nested := r.Nested()
			_, dirs := r.Dirs()
			if slices.Contains([]string{"modules", "branches", "info"}, place) && nested == nil && dirs == nil {
				t.Errorf("%s: a pipe is taken for a directory", place)
			}
			write(t, dir+"/r/.git/config", "[core]\n\thooksPath = .git/"+place+"\n")
			_, _ = NewSurroundings(Home{}, dir).View(t.Context()).Obeyed(dir+"/r/a", make([]Dir, 99))
		})
	}
}

// Reading a directory with links to itself ends.
func TestModulesThatLeadInCircles(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	if err := os.MkdirAll(dir+"/r/.git/modules", 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := os.Symlink(".", dir+"/r/.git/modules/"+strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir+"/r", Home{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Nested(); err == nil {
		t.Error("every way through the links was followed")
	}
}
