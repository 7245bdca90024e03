package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// The manual pages, completion scripts, key table and schema in docs are made
// from the program; copies that have fallen behind fail here.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	fresh := t.TempDir()
	if code, _, stderr := invoke(t, "man", fresh); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	compare(t, fresh, filepath.Join(docs, "man"))

	fresh = t.TempDir()
	for _, shell := range shellNames {
		code, stdout, stderr := invoke(t, "completion", shell)
		if code != cli.ExitOK {
			t.Fatal(stderr)
		}
		if err := os.WriteFile(filepath.Join(fresh, "ironcurtain-mux."+shell), []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, fresh, filepath.Join(docs, "completions"))

	for file, args := range map[string][]string{
		"keys.md":            {"keys", "--default"},
		"config.schema.json": {"config", "show", "--schema"},
	} {
		_, stdout, _ := invoke(t, args...)
		kept, err := os.ReadFile(filepath.Join(docs, file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(kept), stdout); diff != "" {
			t.Errorf("%s has fallen behind; run 'make generate' and commit the result (-kept +fresh):\n%s", file, diff)
		}
	}
}

// compare fails unless both directories hold the same files.
func compare(t *testing.T, fresh, kept string) {
	t.Helper()
	if diff := cmp.Diff(contents(t, kept), contents(t, fresh)); diff != "" {
		t.Errorf("%s has fallen behind; run 'make generate' and commit the result (-kept +fresh):\n%s", kept, diff)
	}
}

// contents reads a flat directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}
