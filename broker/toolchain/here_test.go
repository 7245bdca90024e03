package toolchain

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProjectsAreKnownByTheirFiles(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		".git/HEAD", "go.mod", // the home itself is none
		"tree/.git/HEAD", "tree/sub/go.mod", "tree/sub/deeper/x",
		"linked/.git", // of a linked worktree
		"module/go.mod", "module/pkg/x.go",
		"made/Makefile", "plain/notes.txt",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]struct {
		project string
		git     bool
	}{
		"":                {},
		"tree":            {"tree", true},
		"tree/sub/deeper": {"tree", true},
		"linked":          {"linked", true},
		"module":          {"module", false},
		"module/pkg":      {},
		"made":            {"made", false},
		"plain":           {},
		"gone":            {},
	} {
		t.Run("in "+dir, func(t *testing.T) {
			project, git := Project(filepath.Join(home, dir), home)
			if want.project != "" {
				want.project = filepath.Join(home, want.project)
			}
			if project != want.project || git != want.git {
				t.Errorf("%q, git %v; want %q, %v", project, git, want.project, want.git)
			}
		})
	}
	if project, _ := Project("/", home); project != "" {
		t.Errorf("/ is the project %q", project)
	}
}

// A directory to which everybody can write is not the user's own, and no project is looked for above it.
func TestOwn(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "shared", "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "shared", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	shared, mine := filepath.Join(home, "shared"), filepath.Join(home, "shared", "mine")
	for mode, own := range map[os.FileMode]bool{0o700: true, 0o775: true, 0o777: false, 0o777 | os.ModeSticky: false} {
		t.Run(mode.String(), func(t *testing.T) {
			if err := os.Chmod(shared, mode); err != nil {
				t.Fatal(err)
			}
			project, _ := Project(mine, home)
			if Own(shared) != own || (project == shared) != own {
				t.Errorf("own %v, the project of a directory in it is %q", !own, project)
			}
		})
	}
	if err := os.Symlink(mine, filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	if Own(filepath.Join(home, "link")) || Own(filepath.Join(home, "gone")) {
		t.Error("a link, or nothing, is the user's own")
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(mine, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if Own(mine) {
			t.Error("somebody else's is the user's own")
		}
	}
}
