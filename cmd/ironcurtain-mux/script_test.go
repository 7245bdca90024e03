package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what the test binary does when it is started under their names.
var programs = map[string]func(){"ironcurtain-mux": main}

// TestMain lets the scripts call the program: the test binary runs main when
// it is started under the program's name.
func TestMain(m *testing.M) {
	testscript.Main(m, programs)
}

// TestScripts runs testdata/script/*.txtar. Each script has a home of its own;
// what takes long to make (images, sandboxes) stays in the machine's cache.
func TestScripts(t *testing.T) {
	cache := cacheDirectory(t)
	buildAsk(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "model": startModel, "question": waitForQuestion, "prompts": prompts,
		},
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("IRONCURTAIN_HOME", filepath.Join(home, ".ironcurtain"))
			env.Setenv("IRONCURTAIN_CACHE", cache)
			env.Vars = append(env.Vars, atOnce)
			return os.Mkdir(home, 0o700)
		},
	})
}

// exits is the script command "exits CODE PROGRAM ARGS...": the program must
// end with this very exit code, where "! exec" takes any but zero.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS...]")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s did not run: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("%s exited with %s, want %s", args[1], got, args[0])
	}
}

// cacheDirectory is where the program keeps its cache when it runs outside of
// tests.
func cacheDirectory(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("IRONCURTAIN_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ironcurtain-mux")
}
