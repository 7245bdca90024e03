package stored

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestResolveWorkspace(t *testing.T) {
	base := RealPath(t.TempDir())
	userHome := filepath.Join(base, "home")
	state := filepath.Join(userHome, ".ironcurtain")
	project := filepath.Join(userHome, "project")
	cache := filepath.Join(userHome, ".cache", "ironcurtain-mux")
	sandbox := filepath.Join(state, "sessions", "1", "sandbox")
	for _, dir := range []string{project, sandbox, filepath.Join(state, "sessions", "1", "home"), filepath.Join(state, "demo", "outside"), filepath.Join(cache, "servers")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(project, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	homeLink := filepath.Join(base, "homelink")
	if err := os.Symlink(userHome, homeLink); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(base, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}

	for given, want := range map[string]string{
		project:                  project,
		project + "/../project/": project,
		"~/project":              project,
		link:                     project,
		sandbox:                  sandbox,
	} {
		got, err := ResolveWorkspace(given, state, cache, userHome)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", given, got, err, want)
		}
	}
	for given, part := range map[string]string{
		"/":                              "whole machine",
		"~":                              "home directory",
		userHome:                         "home directory",
		homeLink:                         "home directory",
		base:                             "contains your home",
		state:                            "state of ironcurtain-mux",
		filepath.Join(state, "sessions"): "belongs to",
		filepath.Join(state, "sessions", "1", "home"): "belongs to",
		filepath.Join(state, "demo", "outside"):       "belongs to",
		filepath.Join(base, "missing"):                "does not exist",
		loop:                                          "too many links",
		filepath.Dir(cache):                           "contains the cache",
		cache:                                         "contains the cache",
		filepath.Join(cache, "servers"):               "lies in the cache",
		file:                                          "not a directory",
		filepath.Join(project, "../../../../../../.."): "whole machine",
	} {
		_, err := ResolveWorkspace(given, state, cache, userHome)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v, want it to say %q", given, err, part)
		}
		var p *fault.Error
		if !errors.As(err, &p) || p.Hint() == "" {
			t.Errorf("%s: no hint in %v", given, err)
		}
	}
}
