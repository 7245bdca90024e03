package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// seals checks that nothing which the daemon runs has a terminal of a client or a socket of the
// daemon, neither as a descriptor nor in its file system.
func (d *driver) seals(t *testing.T, id broker.SessionID) {
	t.Helper()
	kept := map[string]string{} // what nobody else may have, and what it is
	list, _, _ := d.command("clients", "ls")
	for _, device := range regexp.MustCompile(`/dev/pts/\d+`).FindAllString(list, -1) {
		kept[device] = "a client's terminal"
	}
	terminals := len(kept)
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(sockets), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 8 && filepath.Dir(fields[7]) == d.state("run") {
			kept["socket:["+fields[6]+"]"] = fields[7]
		}
	}
	if terminals == 0 || len(kept) == terminals {
		t.Fatalf("no terminal or no socket to look for: %v", kept)
	}
	children, sandboxed := processesBelow(t, d.daemon()), 0
	for _, pid := range children {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			target, err := os.Readlink(fd)
			if err == nil && kept[target] != "" {
				t.Errorf("process %d has %s: %s", pid, fd, kept[target])
			}
		}
		if confined(pid) {
			sandboxed++
			d.sees(t, pid)
		}
	}
	if sandboxed == 0 {
		t.Errorf("none of the %d processes of the daemon is in a sandbox", len(children))
	}
	for _, c := range containersOf(t, id) {
		inside := insideOf(t, c.ID)
		if len(inside) == 0 {
			t.Errorf("no process of container %s was found", c.ID)
		}
		for _, pid := range inside {
			d.sees(t, pid)
		}
	}
}

// sees checks what of run/ a process can see.
func (d *driver) sees(t *testing.T, pid int) {
	t.Helper()
	for _, name := range []string{"daemon.sock", "answer.sock", "control.sock"} {
		if _, err := os.Lstat(fmt.Sprintf("/proc/%d/root%s", pid, d.state("run", name))); err == nil {
			t.Errorf("process %d sees %s", pid, name)
		}
	}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return // it has ended
	}
	own := regexp.MustCompile(`/state/run/[^/]+/(sockets|scratch|stages)(/|$)`)
	for _, line := range strings.Split(string(mounts), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.Contains(fields[3], filepath.Base(d.home)+"/state/run") && !own.MatchString(fields[3]) {
			t.Errorf("process %d has %s mounted at %s", pid, fields[3], fields[4])
		}
	}
}

// confined reports whether a process has other mounts than this one.
func confined(pid int) bool {
	here, err := os.Readlink("/proc/self/ns/mnt")
	there, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	return err == nil && err2 == nil && here != there
}

// processesBelow lists the descendants of a process.
func processesBelow(t *testing.T, of int) (below []int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", of))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile(task) // the thread may have ended
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			below = append(append(below, pid), processesBelow(t, pid)...)
		}
	}
	return below
}

// insideOf lists the processes of a container.
func insideOf(t *testing.T, container string) (inside []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, _ := os.ReadFile(path) // the process may have ended
		if strings.Contains(string(text), container) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			inside = append(inside, pid)
		}
	}
	return inside
}
