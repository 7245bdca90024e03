package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// childrenOf are the processes that a process has started and that still run, with what they
// were started as.
func childrenOf(t testing.TB, parent int) map[int]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if fields[1] != strconv.Itoa(parent) || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		argv, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found[pid] = strings.TrimRight(strings.ReplaceAll(string(argv), "\x00", " "), " ")
	}
	return found
}

// agentProcess waits for the one process of a built-in agent that the daemon has started.
func (d *driver) agentProcess() (pid int) {
	d.t.Helper()
	daemon := d.daemon()
	if !eventually(patience, func() bool {
		for p, argv := range childrenOf(d.t, daemon) {
			if strings.HasSuffix(argv, "ironcurtain-mux-ask builtin") {
				pid = p
			}
		}
		return pid != 0
	}) {
		d.t.Fatal("the agent does not run")
	}
	return pid
}

// locked checks what a process that is locked has, as the kernel tells it.
func locked(t *testing.T, pid int, descriptors, environment []string) {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil && !errors.Is(err, fs.ErrPermission) { // only root may look at a process that cannot be traced
			t.Error(err)
		}
		return string(text)
	}
	if !eventually(patience, func() bool { return strings.Contains(read("status"), "\nSeccomp:\t2\n") }) {
		t.Errorf("it is not locked:\n%s", read("status"))
	}
	status := read("status")
	wants := []string{"NoNewPrivs:\t1"}
	if os.Geteuid() == 0 {
		wants = append(wants, "Uid:\t1000\t1000\t1000\t1000", "Gid:\t1000\t1000\t1000\t1000", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "Groups:\t ")
	}
	for _, want := range wants {
		if !strings.Contains(status, "\n"+want+"\n") {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
	limits := regexp.MustCompile(` +`).ReplaceAllString(read("limits"), " ")
	for _, want := range []string{
		"Max core file size 0 0", "Max file size 67108864 67108864", "Max open files 64 64", "Max data size 536870912 536870912",
	} {
		if !strings.Contains(limits, want) {
			t.Errorf("no %q in\n%s", want, limits)
		}
	}
	if env := read("environ"); env != "" {
		if got := strings.Split(strings.TrimRight(env, "\x00"), "\x00"); !slices.Equal(got, environment) {
			t.Errorf("its environment is %q", got)
		}
	}
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if errors.Is(err, fs.ErrPermission) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fd := range all {
		to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		got = append(got, fd.Name()+" "+to)
	}
	slices.SortFunc(got, func(a, b string) int {
		var x, y int
		_, _ = fmt.Sscan(a, &x)
		_, _ = fmt.Sscan(b, &y)
		return x - y
	})
	for i, want := range descriptors {
		if i >= len(got) || !regexp.MustCompile("^"+strconv.Itoa(i)+" "+want+"$").MatchString(got[i]) {
			t.Errorf("descriptor %d is not %q: it has %q", i, want, got)
		}
	}
	more := 0 // Go's poller and what it reads of its own limits; connections to the model
	for _, fd := range got[min(len(got), len(descriptors)):] {
		if strings.Contains(fd, "socket:") {
			more++
		} else if !regexp.MustCompile(` (anon_inode:\[(eventpoll|eventfd)\]|/sys/fs/cgroup/.*/?cpu\.[a-z_]+)$`).MatchString(fd) {
			t.Errorf("it has %s, too", fd)
		}
	}
	if more > 2 {
		t.Errorf("it has %q", got)
	}
	if flags := read("fdinfo/5"); flags != "" {
		m := regexp.MustCompile(`flags:\s+(\d+)`).FindStringSubmatch(flags)
		n, _ := strconv.ParseInt(m[1], 8, 64)
		if n&int64(os.O_APPEND) == 0 {
			t.Errorf("its conversation is open as %s", flags)
		}
	}
}

var agentEnvironment = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TZ=UTC", "GOMAXPROCS=2", "GOTRACEBACK=none"}

// The process of the built-in agent has what it was handed and nothing of the daemon, in a tab
// and for a task, and is gone with it.
func TestBuiltinHasNothingElse(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	buildBeside(t, "ironcurtain-mux-code")
	buildAsk(t)
	// The person's shell has a file open, as shells do for locks and logs.
	d := driveArgv(t, home, 110, 40, append([]string{"sh", "-c", `exec "$@" 9</etc/hostname`, "sh"}, append(withoutEngine, "ironcurtain-mux", "demo", "--agent", "builtin")...)...)
	d.see(patience, "claude-sonnet-4-6")
	d.idle()
	history := regexp.QuoteMeta(d.state("sessions", string(d.onlySession().ID), "home", "conversation.jsonl"))
	pid := d.agentProcess()
	const socket, pipe = `socket:\[\d+\]`, `pipe:\[\d+\]`
	const tty = `/dev/pts/\d+`
	locked(t, pid, []string{tty, tty, tty, socket, socket, history}, agentEnvironment)
	d.ask("read hello.txt")
	d.see(patience, "Done: read hello.txt")
	d.idle()
	locked(t, pid, []string{tty, tty, tty, socket, socket, history}, agentEnvironment)

	ended := make(chan int, 1)
	go func() {
		_, _, code := runStart(t, home, "", "--agent", "builtin", "--timeout", "20s", "write "+d.state("demo", "outside", "x")+" y")
		ended <- code
	}()
	daemon, task := d.daemon(), 0
	if !eventually(patience, func() bool {
		for p, argv := range childrenOf(t, daemon) {
			if p != pid && strings.HasSuffix(argv, "ironcurtain-mux-ask builtin") {
				task = p
			}
		}
		return task != 0 && len(d.pending()) == 1
	}) {
		t.Fatal("the task's agent does not run")
	}
	locked(t, task, []string{"/dev/null", pipe, pipe, socket, socket, ".*/home/conversation.jsonl"}, agentEnvironment)
	d.decide("/deny", func() bool { return len(d.pending()) == 0 })
	<-ended
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", task)); err == nil {
		t.Error("the task's agent still runs")
	}
	d.quit()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		t.Error("the agent still runs")
	}
}
