package main

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// everyCommand calls f for root and all commands below it.
func everyCommand(root *cobra.Command, f func(*cobra.Command)) {
	f(root)
	for _, sub := range root.Commands() {
		everyCommand(sub, f)
	}
}

// invoke runs the program with arguments, as the shell would.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return invokeIn(t, t.TempDir(), args...)
}

// invokeIn is invoke with a state directory.
func invokeIn(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("IRONCURTAIN_HOME", home)
	var out, err bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	everyCommand(rootCommand(), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
				t.Errorf("the short description %q must be a phrase without a full stop", cmd.Short)
			}
			if !strings.Contains(cmd.Example, "ironcurtain-mux") {
				t.Errorf("the examples %q do not show the program", cmd.Example)
			}
			code, stdout, stderr := invoke(t, append(path, "--help")...)
			if code != cli.ExitOK || stderr != "" {
				t.Errorf("--help exits %d and complains %q", code, stderr)
			}
			if !strings.Contains(stdout, "Usage:") || !strings.Contains(stdout, "Examples:") {
				t.Errorf("the help lacks usage or examples:\n%s", stdout)
			}
		})
	})
}

func TestEveryCommandRefusesAnUnknownFlag(t *testing.T) {
	everyCommand(rootCommand(), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			code, stdout, stderr := invoke(t, append(path, "--no-such-flag")...)
			if code != cli.ExitUsage || stdout != "" {
				t.Errorf("exits %d and prints %q", code, stdout)
			}
			op := cmp.Or(strings.Join(path, " "), "command line")
			if !strings.HasPrefix(stderr, "ironcurtain-mux: "+op+": ") || !strings.Contains(stderr, "--help") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("the complaint is not one line that leads to the help: %q", stderr)
			}
		})
	})
}
