package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// In a container the program is the bridge before the parts that only the host
// uses have been set up: each tab waits for that twice, and pays for its memory.
func TestBridgeBeginsEarly(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"proxy"}, {"run", "--", "/nonexistent"}} {
		cmd := exec.CommandContext(t.Context(), "ironcurtain-mux", append([]string{"bridge"}, args...)...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitFailure {
			t.Errorf("%q: %v", args, err)
		}
		text := string(out)
		if !strings.Contains(text, "init net @") {
			t.Fatalf("%q: the runtime does not tell what it sets up:\n%s", args, text)
		}
		if !strings.Contains(text, "ironcurtain-mux: ") {
			t.Errorf("%q does not say why it failed:\n%s", args, text)
		}
		for _, late := range []string{"santhosh-tekuri/jsonschema", "ironcurtain-mux/policy @", "ironcurtain-mux/docker @"} {
			if strings.Contains(text, late) {
				t.Errorf("%q has waited for %s", args, late)
			}
		}
	}
}
