package gitx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestObeyedNames(t *testing.T) {
	for _, tc := range []struct {
		command, path string
		exists, want  bool
	}{
		{"tools/x.sh", "/w/tools/x.sh", false, true},
		{"./tools/x.sh %f", "/w/tools/x.sh", true, true},
		{"/w/tools/x.sh", "/w/tools/x.sh", true, true},
		{"sh -c 'cd a; tools/x.sh'", "/w/tools/X.sh", true, true},
		{"tools/x.sh.old tools/x.sh", "/w/tools/x.sh", true, true},
		{"tools/x.sh", "/w/tools", false, true},
		{"tools/x.sh", "/w/tools", true, false},
		{"tools/x.shy", "/w/tools/x.sh", true, false},
		{"\"$(git rev-parse --show-toplevel)/tools/x.sh\"", "/w/tools/x.sh", true, true},
		{"`pwd`/tools/x.sh", "/w/tools/x.sh", true, true},
		{"$ROOT/x.sh", "/w/x.sh", false, true},
		{"${ROOT}/x.sh", "/w/x.sh", false, true},
		{"A=1;tools/x.sh", "/w/tools/x.sh", false, true},
		{"tools/x.sh", "/w/x.sh", true, false},
		{"/usr/bin/less", "/w/less", true, false},
		{"mytools/x.sh", "/w/tools/x.sh", true, false},
		{"tools/x.sh", "/other/tools/x.sh", true, false},
		{"tools/x.sh", "/w", true, false},
		{"make test", "/w/test", false, false},
		{"make test", "/w/test", true, true},
		{"./test", "/w/test", false, true},
		{"cd tools && ./x.sh", "/w/tools/x.sh", false, true},
		{"cd tools && ./x.sh", "/w/other/x.shy", true, false},
		{"abcd tools ./x.sh", "/w/tools/x.sh", true, false},
		{"!./x.sh", "/w/x.sh", false, true},
		{"../x.sh", "/x.sh", true, true},
		{"../v/x.sh", "/v/x.sh", false, true},
		{"sh /v/x.sh", "/v/x.sh", false, true},
		{"sh /u/v/x.sh", "/v/x.sh", true, false},
		{"../x.sh", "/w/x.sh", true, false},
		{"", "/w/test", true, false},
	} {
		t.Run(tc.command, func(t *testing.T) {
			if got := (Obeyed{command: tc.command, top: "/w"}).Names(tc.path, tc.exists); got != tc.want {
				t.Errorf("%q names %s (there: %v): %v", tc.command, tc.path, tc.exists, got)
			}
		})
	}
}

// TestSurroundingsTogether reads one repository from many goroutines while its
// configuration is replaced.
func TestSurroundingsTogether(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".new"), []byte(content), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(filepath.Join(dir, name+".new"), filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	write("r/.git/config", "")
	s := NewSurroundings(Home{}, dir)
	unknown := make([]Dir, 99)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				if named, err := s.View(t.Context()).Obeyed(dir+"/r/a/b", unknown); err != nil || len(named) > 1 {
					t.Errorf("%v %v", named, err)
				}
			}
		})
	}
	for i := range 50 {
		write("r/.git/config", []string{"", "[core]\n\thooksPath = x\n"}[i%2])
	}
	all.Wait()
	if named, err := s.View(t.Context()).Obeyed(dir+"/r/a", unknown); err != nil || len(named) != 1 || named[0].Name != dir+"/r/x" {
		t.Errorf("in the end: %v %v", named, err)
	}
}

// TestIncludesWithoutEnd has configurations whose includes never end.
func TestIncludesWithoutEnd(t *testing.T) {
	dir := tempDir(t)
	write(t, dir+"/r/.git/config", strings.Repeat("[include]\n\tpath = config\n\tpath = more\n", 2000))
	write(t, dir+"/r/.git/more", strings.Repeat("[include]\n\tpath = config\n\tpath = ../.git/more\n", 2000))
	for _, place := range []string{"/r/a", "/beside/a"} {
		t.Run(place, func(t *testing.T) {
			named, err := NewSurroundings(Home{}, dir).View(t.Context()).Obeyed(dir+place, make([]Dir, 99))
			if err == nil || len(named) > 2*maxObeyed {
				t.Errorf("%s: %d names, %v", place, len(named), err)
			}
		})
	}
}

// TestWhiteSpaceInValues has a tab in a value, which some versions of git read as a space.
func TestWhiteSpaceInValues(t *testing.T) {
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q", "r")
	write(t, dir+"/r/.git/config", "[core]\n\thooksPath = my\thooks\n\tsshCommand = sh 'my\ttool'\n\texcludesFile = my\tlist\n")
	named, err := NewSurroundings(Home{}, dir).View(t.Context()).Obeyed(dir+"/r/a", make([]Dir, 99))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"my hooks", "my\thooks", "my tool", "my\ttool"} {
		t.Run(file, func(t *testing.T) {
			file = dir + "/r/" + file
			if !slices.ContainsFunc(named, func(o Obeyed) bool { return o.Name == file || o.Names(file, true) }) {
				t.Errorf("%q is not among what git obeys", file)
			}
		})
	}
	r, err := Open(dir+"/r", Home{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.Dirs()
	if err != nil || !slices.Contains(files, dir+"/r/my list") || !slices.Contains(files, dir+"/r/my\tlist") {
		t.Errorf("%q %v", files, err)
	}
}

// TestBrokenBeside has broken repositories beside the one that is written to. If git fails
// on their configuration, it runs nothing; if only this package does, that is an error.
func TestBrokenBeside(t *testing.T) {
	for config, stops := range map[string]bool{
		"[core\n": true, "[core]\n\tx = \"\n": true,
		"x = 1\n": false, "[core \"\"]\n": false, strings.Repeat("#", maxConfig) + "\n": false, "[core]\n\tx = \x00\n": false,
	} {
		t.Run(fmt.Sprintf("%.40s", config), func(t *testing.T) {
			dir := tempDir(t)
			mustGit(t, dir, dir, "init", "-q", "r")
			write(t, dir+"/r/.git/config", config)
			if _, err := git(t, dir, dir+"/r", "status"); (err != nil) != stops {
				t.Errorf("%.20q: git says %v", config, err)
			}
			if _, err := NewSurroundings(Home{}, dir).View(t.Context()).Obeyed(dir+"/beside/a", make([]Dir, 99)); (err == nil) != stops {
				t.Errorf("%.20q: %v", config, err)
			}
		})
	}
}

// TestNamesOfLongCommands has commands in which a name occurs several hundred thousand
// times in one word.
func TestNamesOfLongCommands(t *testing.T) {
	long := strings.Repeat("a/", 400_000)
	for command, want := range map[string]bool{long: false, "`" + long: false, long + " a/a": true, "$(" + long + ")/a/a": true} {
		t.Run(fmt.Sprintf("%.40s", command), func(t *testing.T) {
			if got := (Obeyed{command: command, top: "/w"}).Names("/w/a/a", true); got != want {
				t.Errorf("%.5s… %v, want %v", command, got, want)
			}
		})
	}
}
