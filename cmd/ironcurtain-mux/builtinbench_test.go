package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkBuiltin measures the built-in agent without a container engine: a tab from the
// command to its prompt, a program of one call from Enter to the answer, a task from the
// command to its end, and what an idle tab's process has resident.
func BenchmarkBuiltin(b *testing.B) {
	b.Run("Tab", func(b *testing.B) {
		d := openBuiltin(b, newHome(b), "--agent", "builtin")
		d.idle()
		var all time.Duration
		for n := range b.N {
			d.send("\x01/new builtin")
			d.see(patience, "> /new builtin")
			began := time.Now()
			d.send("\r")
			d.see(patience, fmt.Sprintf(" %d ", n+2), "claude-sonnet-4-6")
			all += time.Since(began)
		}
		b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "ms/tab")
		b.ReportMetric(float64(residentOf(b, "ironcurtain-mux-ask"))/1024, "MB/agent")
		d.quit()
	})
	b.Run("Program", func(b *testing.B) {
		d := openBuiltin(b, newHome(b), "--agent", "builtin")
		d.idle()
		var all time.Duration
		for n := range b.N {
			order := fmt.Sprintf("batch %d", n%500+1)
			d.send(order)
			d.see(patience, "> "+order)
			began := time.Now()
			d.send("\r")
			d.see(patience, fmt.Sprintf("%d times in one program. The tool", n%500+1))
			all += time.Since(began)
			d.idle()
		}
		b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), "ms/turn")
		d.quit()
	})
	b.Run("Task", func(b *testing.B) {
		buildBeside(b, "ironcurtain-mux-code")
		buildBeside(b, "ironcurtain-mux-ask")
		home := newHome(b)
		b.Cleanup(func() { (&driver{t: b, home: home}).stop() })
		for b.Loop() {
			cmd := exec.Command("ironcurtain-mux", "start", "--demo", "--agent", "builtin", "read hello.txt")
			cmd.Env = environment(home, cacheDirectory(b))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}

// residentOf is the memory of the newest process of a program, in KiB.
func residentOf(t testing.TB, program string) int {
	t.Helper()
	pid, err := exec.Command("pgrep", "-nf", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
