// Package alone runs a test in a process of its own. A test that looks at how much memory
// was used needs one: the system counts for each child what its parent had when it began,
// and the parent of other tests has theirs.
package alone

import (
	"fmt"
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

// Peak is the most memory that this process itself has had so far, in bytes. Its rusage
// would begin with what its parent had. It needs Linux.
func Peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kB int64
	if _, err := fmt.Sscan(peak, &kB); err != nil {
		t.Fatalf("read /proc/self/status: %v", err)
	}
	return kB << 10
}
