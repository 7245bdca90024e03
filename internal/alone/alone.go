// Package alone runs a test in a process of its own. A test that measures the memory of programs
// needs that: the system starts a child's peak at that of its parent, which the other tests of the
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

// Run reports whether this process was started for this test alone; then the test continues
// here. Otherwise Run runs the test in such a process, and fails the test if that fails.
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

// Peak returns the most memory that this process has used so far, in bytes. It needs Linux. It does
// not use getrusage, whose peak starts at that of the parent process.
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
