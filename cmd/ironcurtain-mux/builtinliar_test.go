package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
)

// besideLiar builds the multiplexer beside an agent that was taken over, and returns it.
func besideLiar(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	original := buildBeside(t, "ironcurtain-mux-code")
	for _, name := range []string{"ironcurtain-mux", "ironcurtain-mux-code"} {
		copyExecutable(t, filepath.Join(filepath.Dir(original), name), filepath.Join(dir, name))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(dir, "ironcurtain-mux-ask"), "./testdata/liar")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "ironcurtain-mux")
}

// countOpen is how many descriptors a process has.
func countOpen(pid int) int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(all)
}

// Whatever a built-in agent's process does with what it was handed, its tab closes, nothing of
// it stays, and the multiplexer goes on.
func TestBuiltinTakenOver(t *testing.T) {
	t.Parallel()
	program := besideLiar(t)
	for _, how := range []string{"desk", "garbage", "mcp", "line", "history", "paint", "spin"} {
		t.Run(how, func(t *testing.T) {
			d := driveArgv(t, newHome(t), 110, 40, append(append([]string{}, withoutEngine...), program, "demo", "--agent", "builtin")...)
			d.see(patience, "at your service")
			daemon := d.daemon()
			d.send("the first")
			d.see(patience, "the first")
			d.send("\x01/new builtin\r")
			d.inTab(2)
			d.until("the second tab", patience, func(screen string) bool {
				return strings.Contains(screen, "at your service") && !strings.Contains(screen, "the first")
			})
			agents := func() (n int) {
				for _, argv := range childrenOf(t, daemon) {
					if strings.HasSuffix(argv, "ironcurtain-mux-ask builtin") {
						n++
					}
				}
				return n
			}
			before := countOpen(daemon)
			d.send(how + "\r")
			if how != "spin" {
				d.see(patience, "did "+how)
			}
			d.send("\x01/close\r")
			d.see(patience, "y/n")
			d.send("y")
			if !eventually(patience, func() bool { return agents() == 1 && countOpen(daemon) < before }) {
				t.Errorf("%d descriptors became %d; it runs %v", before, countOpen(daemon), childrenOf(t, daemon))
			}
			d.quit()
		})
	}
}

// A task ends, whatever the agent's process prints, or when its time is over.
func TestBuiltinTakenOverTask(t *testing.T) {
	t.Parallel()
	program := besideLiar(t)
	home := newHome(t)
	t.Cleanup(func() { (&driver{t: t, home: home}).stop() })
	if err := os.MkdirAll(filepath.Join(home, "user"), 0o700); err != nil {
		t.Fatal(err)
	}
	for how, code := range map[string]int{"endless": 4, "mute": 4, "both": 1, "long": 1, "broken": 1} {
		limit := patience
		if code == 4 {
			limit = 5 * time.Second
		}
		cmd := exec.CommandContext(t.Context(), program, "start", "--demo", "--agent", "builtin", "--output", "json", "--timeout", limit.String(), how)
		cmd.Env = environment(home, cacheDirectory(t))
		out, _ := cmd.Output()
		var result start.TaskResult
		if err := json.Unmarshal(out, &result); err != nil {
			t.Errorf("%s: %v: %.500s", how, err, out)
		}
		if cmd.ProcessState.ExitCode() != code {
			t.Errorf("%s: code %d, want %d", how, cmd.ProcessState.ExitCode(), code)
		}
	}
	for pid, argv := range childrenOf(t, (&driver{t: t, home: home}).daemon()) {
		if strings.Contains(argv, "ironcurtain-mux-ask") {
			t.Errorf("%d %s still runs", pid, argv)
		}
	}
}
