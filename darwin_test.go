package ironcurtainmux_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// namesProc are the files of macOS that may name /proc: they say what is in containers and
// sandboxes of Linux, or what no call may name anywhere.
var namesProc = map[string]bool{
	"broker/sandbox/view.go": true, "broker/session/worktree.go": true, "broker/stage/plan.go": true,
	"policy/compile/never.go": true, "policy/pathx/proc.go": true, "policy/pathx/walk.go": true,
}

// macOS has no /proc, so what is built for it reads nothing there.
func TestNoFileForDarwinNamesProc(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,GoFiles,ImportPath",
		"./cmd/ironcurtain-mux", "./cmd/ironcurtain-mux-ask", "./cmd/ironcurtain-mux-code")
	cmd.Env = append(os.Environ(), "GOOS=darwin", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir, ImportPath string
			GoFiles         []string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.ImportPath, module+"/") {
			continue
		}
		for _, name := range p.GoFiles {
			path, err := filepath.Rel(here, filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if namedIn(t, path, "/proc") {
				found[path] = true
			}
		}
	}
	for path := range found {
		if !namesProc[path] {
			t.Errorf("%s names /proc, and is built for macOS", path)
		}
	}
	for path := range namesProc {
		if !found[path] {
			t.Errorf("%s does not name /proc any more", path)
		}
	}
}

// namedIn reports whether a string in a Go file has the text.
func namedIn(t *testing.T, path, text string) bool {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(path, -1, len(source)), source, nil, 0)
	for {
		switch _, is, literal := s.Scan(); {
		case is == token.EOF:
			return false
		case is == token.STRING && strings.Contains(literal, text):
			return true
		}
	}
}
