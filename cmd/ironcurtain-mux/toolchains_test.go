package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// projects are small projects, each with a test, by directory and file.
var projects = map[string]map[string]string{
	"go": {
		"go.mod":      "module example.com/sum\n\ngo 1.24\n",
		"sum.go":      "package sum\n\nfunc Sum(a, b int) int { return a + b }\n",
		"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	},
	"node": {
		"package.json": `{"name": "sum", "version": "1.0.0", "scripts": {"test": "node --test"}}`,
		"sum.test.js":  "const test = require('node:test');\nconst assert = require('node:assert');\ntest('sum', () => assert.strictEqual(1 + 2, 3));\n",
	},
	"python": {
		"pyproject.toml": "[project]\nname = \"sum\"\nversion = \"1.0\"\n",
		"test_sum.py":    "import unittest\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 2, 3)\n",
	},
	"rust": {
		"Cargo.toml": "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs": "pub fn sum(a: u32, b: u32) -> u32 {\n    a + b\n}\n\n#[test]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n",
	},
	"c": {
		"Makefile": "test: sum\n\t./sum\n",
		"sum.c":    "int main(void) { return 1 + 2 - 3; }\n",
	},
}

// makeProjects writes the projects for everybody to build in.
func makeProjects(t *testing.T, dir string) {
	t.Helper()
	for project, files := range projects {
		for name, text := range files {
			path := filepath.Join(dir, project, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, err := exec.Command("chmod", "-R", "a+rwX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// imagesWithCompilers makes agents' images with Go and Rust, before the parts of a test that have
// limits of time.
func imagesWithCompilers(t testing.TB, agents ...string) {
	t.Helper()
	whole := standardRecipe
	whole.Toolchains = slices.Concat(whole.Toolchains, []string{"go", "rust"})
	for _, agent := range agents {
		if _, err := engine(t).EnsureImage(t.Context(), agent, docker.BuildOptions{CacheDir: cacheDirectory(t), Recipe: whole}); err != nil {
			t.Fatal(err)
		}
	}
}

// A tab offers the toolchains that its workspace's projects need and its image lacks.
// With them, a real agent builds and tests each project, without root and without a
// network. Nothing is offered twice.
func TestProjectsAreBuilt(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	work := filepath.Join(home, "work")
	makeProjects(t, work)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	imagesWithCompilers(t, "claude-code", "shell")
	d := drive(t, home, 130, 40, "demo", "--agent", "claude-code", "--workspace", work)
	d.until("the offer", patience, func(string) bool { return d.says("bypass permissions", "is built with Go, Rust with Cargo") })
	first := d.onlySession().ID
	d.send("\x01/yes\r")
	d.until("another container", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") && slices.ContainsFunc(d.sessions(), func(s broker.StoredSession) bool {
			return s.ID != first && s.State == broker.StateIdle
		})
	})
	for _, c := range []struct{ command, passed string }{
		{"cd /workspace/go && go test ./... && go install ./...", "ok"},
		{"cd /workspace/node && npm test 2>&1 | grep pass", "pass 1"},
		{"cd /workspace/python && python3 -m venv ~/venv && ~/venv/bin/python -m unittest 2>&1 | tail -1", "OK"},
		{"cd /workspace/rust && cargo test --offline 2>&1 | grep -m1 result", "test result: ok. 1 passed"},
		{"make -C /workspace/c test && echo made-by-cc", "made-by-cc"},
		{"npm config get prefix; id -u; python3 -m pip --version | cut -c1-3", "/home/codespace/.local"},
	} {
		d.prompt("run " + c.command)
		d.see(patience, "Done: run "+c.command[:16], c.passed)
		d.turnEnded()
	}
	d.quit()

	d = drive(t, home, 130, 40, "demo", "--agent", "shell", "--workspace", work)
	d.see(patience, "/workspace$")
	d.send("clear; go version; cargo --version\r")
	d.see(patience, "go version go", "cargo 1.")
	if strings.Contains(d.text(), "is built with") {
		t.Errorf("it is offered again:\n%s", d.text())
	}
	d.quit()
}
