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
