package copies

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// site is a person's directory and its copy.
type site struct {
	t                  *testing.T
	origin, copy, note string
}

// newSite makes a directory by a shell script, and copies it.
func newSite(t *testing.T, script string) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t, filepath.Join(dir, "project"), filepath.Join(dir, "session/copy"), filepath.Join(dir, "session/copy.note")}
	for _, dir := range []string{s.origin, filepath.Dir(s.copy)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, s.origin, script)
	if _, err := Make(t.Context(), s.origin, s.copy, s.note); err != nil {
		t.Fatal(err)
	}
	return s
}

// shell runs a script in a directory.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

// agent runs a script in the copy, and person in the directory.
func (s *site) agent(script string) { s.t.Helper(); shell(s.t, s.copy, script) }

func (s *site) person(script string) { s.t.Helper(); shell(s.t, s.origin, script) }

func (s *site) difference() Diff {
	s.t.Helper()
	d, err := Difference(s.t.Context(), s.origin, s.copy, s.note)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *site) land(which Which) Landed {
	s.t.Helper()
	l, err := Land(s.t.Context(), s.difference(), which)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// brief describes changes with one word each: "+new", "~changed", "-gone", and after it "!" for what
// cannot be landed and "?" for what git ignores.
func brief(all []Change) string {
	var out []string
	for _, c := range all {
		word := map[What]string{Added: "+", Changed: "~", Deleted: "-"}[c.What] + c.Path
		if c.Stays != "" {
			word = "!" + word
		}
		if c.Ignored {
			word = "?" + word
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// tree lists a directory: paths with contents or targets, and "*" for executable files.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if e.Name() == ".git" {
			return fs.SkipDir
		}
		name := strings.TrimPrefix(path, dir+"/")
		switch e.Type() {
		case fs.ModeDir:
			name += "/"
		case fs.ModeSymlink:
			target, _ := os.Readlink(path)
			name += ">" + target
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if info.Mode()&0o111 != 0 {
				name += "*"
			}
			name += "=" + strings.TrimSpace(string(data))
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
