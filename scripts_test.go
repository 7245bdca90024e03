package ironcurtainmux_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bareMachine is a directory of programs to be used as the whole PATH: what
// every Debian has, plus the given stand-ins, whose values are shell scripts.
func bareMachine(t *testing.T, standIns map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"bash", "sh", "cat", "cut", "env", "getent", "grep", "head", "id", "mkdir", "sleep", "sort", "tail", "timeout", "uname"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, script := range standIns {
		path := filepath.Join(bin, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// setup runs scripts/setup with bin as the PATH and no engine to be found.
func setup(t *testing.T, bin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"scripts/setup"}, args...)...)
	cmd.Env = []string{"PATH=" + bin, "HOME=" + t.TempDir(), "DOCKER_HOST=unix://" + filepath.Join(bin, "no.sock")}
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && !errors.As(e, &exit) {
		t.Fatal(e)
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

const (
	currentGo  = `echo go1.26.8`
	root       = `if [ "$1" = -u ]; then echo 0; else echo root; fi`
	somebody   = `if [ "$1" = -u ]; then echo 1000; else echo somebody; fi`
	darwin     = "echo Darwin"
	recordArgs = `echo "apt-get $*" >&2; echo "E: no such package"; exit 100` // into the log, as apt does
)

func TestSetupCheckOnlyReports(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "installed")
	bin := bareMachine(t, map[string]string{"go": currentGo, "id": root, "apt-get": "touch " + marker})
	code, stdout, _ := setup(t, bin, "--check", "--tests")
	if code != 1 {
		t.Errorf("exits with %d although things are missing", code)
	}
	for _, want := range []string{"missing  nodejs ", "missing  npm ", "missing  tmux ", "missing  bubblewrap ", "missing  a running Docker engine"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(stdout, want) {
				t.Errorf("the report lacks %q:\n%s", want, stdout)
			}
		})
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("--check called apt-get")
	}
}

func TestSetupSaysWhyItCannot(t *testing.T) {
	tests := []struct {
		name     string
		standIns map[string]string
		args     []string
		code     int
		says     []string
	}{
		{"a flag it does not know", map[string]string{"go": currentGo}, []string{"--force"}, 2, []string{"usage:"}},
		{"no Go", nil, nil, 1, []string{"there is no Go", "1.26"}},
		{"an old Go", map[string]string{"go": "echo go1.9.7"}, nil, 1, []string{"Go 1.9.7 is too old"}},
		{"another system", map[string]string{"go": currentGo, "id": root}, nil, 1, []string{"neither Debian nor Ubuntu", "your own package manager"}},
		{
			"nobody's root",
			map[string]string{"go": currentGo, "id": somebody, "apt-get": recordArgs},
			nil, 1,
			[]string{"needs root", "as root"},
		},
		{
			"a package that cannot be had",
			map[string]string{"go": currentGo, "id": root, "apt-get": recordArgs},
			nil, 1,
			[]string{"going to install", "nodejs", "runs the tool servers", "could not install", "E: no such package", "apt.log"},
		},
		{"a Mac without anything", map[string]string{"uname": darwin, "go": currentGo}, nil, 1, []string{"missing  ripgrep", "brew install"}},
		{
			"a Mac without an engine",
			map[string]string{"uname": darwin, "go": currentGo, "git": "", "rg": "", "npm": "", "node": "echo v22.1.0"},
			nil, 1,
			[]string{"Docker Desktop, OrbStack, Colima or Podman machine"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := setup(t, bareMachine(t, tt.standIns), tt.args...)
			if code != tt.code {
				t.Errorf("exits with %d, want %d", code, tt.code)
			}
			for _, want := range tt.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("does not say %q:\n%s%s", want, stdout, stderr)
				}
			}
		})
	}
}

// Every script of the tree can be run and is one that bash can read.
func TestScriptsAreScripts(t *testing.T) {
	scripts, err := filepath.Glob("scripts/*")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, name := range append(scripts, ".ci/run") {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s is not executable", name)
		}
		if out, err := exec.CommandContext(t.Context(), "bash", "-n", name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// fuzzModule is a small module with the fuzz script and these targets, which are
// indented here, lest the script takes them for this module's own.
func fuzzModule(t *testing.T, targets string) string {
	t.Helper()
	dir := t.TempDir()
	script, err := os.ReadFile("scripts/fuzz")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":       "module example.org/small\n\ngo 1.26\n",
		"scripts/fuzz": string(script),
		"p/p_test.go":  "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Getpid\n" + strings.ReplaceAll(targets, "\tfunc Fuzz", "func Fuzz"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A finding is what fails again. It is kept and printed; what fails only once is
// told and is none.
func TestFuzzFindings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, targets string
		seconds       string // enough on a busy machine; a finding ends it sooner
		code          int
		says          []string
		kept          int
	}{
		{"nothing", `
	func FuzzGood(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }
`, "1", 0, []string{"fuzz: ok ./p FuzzGood", "1 passed, 0 failed"}, 0},
		{"a finding", `
	func FuzzBad(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 3 {
			t.Fatal("too long for this")
		}
	})
}
`, "30", 1, []string{"fuzz: FOUND ./p FuzzBad", "too long for this", "commit ./p/testdata/fuzz/FuzzBad/", "go test fuzz v1", "0 passed, 1 failed"}, 1},
		{"a failure that does not come back", `
	func FuzzOnce(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 3 && os.Mkdir("once", 0o755) == nil {
			t.Fatal("a busy machine")
		}
	})
}
`, "30", 0, []string{"FuzzOnce failed once and not again", "a busy machine", "1 passed, 0 failed"}, 0},
		{"a fuzzer that fails by itself", `
	func FuzzShaky(f *testing.F) {
	if os.Mkdir("shaky", 0o755) == nil {
		f.Fatal("without an input")
	}
	f.Fuzz(func(t *testing.T, b []byte) {})
}
`, "1", 0, []string{"fuzz: ok ./p FuzzShaky", "1 passed, 0 failed"}, 0},
		{"a target that never works", `
	func FuzzBroken(f *testing.F) { f.Fatal("out of order") }
`, "1", 1, []string{"FAILED ./p FuzzBroken, every time, without an input", "out of order", "0 passed, 1 failed"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := fuzzModule(t, test.targets)
			cmd := exec.CommandContext(t.Context(), "bash", "scripts/fuzz", "each", test.seconds)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("%s: exits with %d:\n%s", test.name, code, out)
			}
			for _, want := range test.says {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s: %q is not said:\n%s", test.name, want, out)
				}
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, "p/testdata/fuzz/*/*")); len(kept) != test.kept {
				t.Errorf("%s: kept %v", test.name, kept)
			}
		})
	}
}

// Every test that scripts/endure names is there: go would pass without a word of one that is not.
func TestWhatEnduresIsThere(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bash", "scripts/endure", "--check").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
