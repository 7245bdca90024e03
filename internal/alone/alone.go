// Package alone runs a test in a process of its own. A test that measures memory needs one:
// the system counts a child's peak from that of its parent, which the other tests of the
// package have raised.
package alone

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// variable is the environment variable that marks a process for one test.
const variable = "IRONCURTAIN_TEST_ALONE"

// Run reports whether this process was started for this test alone, so that the test goes
// on here. Otherwise it runs the test in such a process, and fails when that fails.
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

// Peak returns the most memory that this process has used so far, in bytes. It does not use
// rusage, which begins with the memory of the parent. It needs Linux.
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
