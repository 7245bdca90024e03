// Package alone runs a test in a process of its own. A test that looks at how much memory
// was used needs one: the system counts for each child what its parent had when it began,
// and the parent of other tests has theirs.
package alone

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// variable tells the process of one test that it is that.
const variable = "IRONCURTAIN_TEST_ALONE"

// Run reports whether the test goes on here, because this process is its own. Otherwise
// it runs the test in one, and its end is that of the test.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v") //nolint:gosec // this program
	cmd.Env = append(os.Environ(), variable+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return false
}
