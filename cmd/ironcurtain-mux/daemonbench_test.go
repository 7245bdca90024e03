package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
)

// The shells of these benchmarks are this machine's own, so that nothing but the multiplexers
// differs. Each tab or window has printed many lines when it is measured.
const (
	benchTabs  = 8
	benchLines = "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); echo a line of output with some words and the number $i; done; echo all-$((1+1))\r"
)

var localShell = []string{"env", noEngine, "SHELL=/bin/sh", "PS1=/$ ", "ENV="}

// asInstalled makes this package's own program the one that runs, in place of the larger one that
// contains the tests.
func asInstalled(b *testing.B) {
	b.Helper()
	dir := b.TempDir()
	build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// BenchmarkAttach measures from starting a client, at 200x50, to the last line of its first frame;
// and what each of four clients costs in memory, the daemon's part and its own:
//
//	go test -run '^$' -bench Attach -benchtime 40x ./cmd/ironcurtain-mux
func BenchmarkAttach(b *testing.B) {
	asInstalled(b)
	b.Run("ironcurtain-mux", func(b *testing.B) {
		home := newHome(b)
		configure(b, home, `{"localShell":true,"agent":"local-shell","maxSessions":9}`)
		argv := append(localShell, "ironcurtain-mux", "attach")
		d := driveArgv(b, home, 200, 50, append(localShell, "ironcurtain-mux", "--agent", "local-shell")...)
		for n := 1; n <= benchTabs; n++ {
			if n > 1 {
				d.send("\x01/new local-shell\r")
			}
			d.until("a tab", patience, func(screen string) bool { return len(d.sessions()) == n && prompted(screen) })
			d.send(benchLines)
			d.see(patience, "all-2")
		}
		benchAttach(b, home, argv)
		before := memory(b, d.daemon(), "Rss")
		var own int
		const more = 4
		for range more {
			v := driveArgv(b, home, 200, 50, argv...)
			v.see(patience, "all-2")
		}
		out, err := exec.Command("pgrep", "-f", "^ironcurtain-mux attach$").Output()
		if err != nil {
			b.Fatal(err)
		}
		for pid := range strings.FieldsSeq(string(out)) {
			n, _ := strconv.Atoi(pid)
			own += memory(b, n, "Pss")
		}
		b.ReportMetric(float64(before)/1024, "daemon-MB")
		b.ReportMetric(float64(memory(b, d.daemon(), "Rss")-before)/1024/more, "client-there-MB")
		b.ReportMetric(float64(own)/1024/more, "client-own-MB")
	})
	b.Run("tmux", func(b *testing.B) {
		socket := filepath.Join(b.TempDir(), "s")
		defer exec.Command("tmux", "-S", socket, "kill-server").Run() // it may be gone
		home := newHome(b)
		d := driveArgv(b, home, 200, 50, append(localShell, "tmux", "-S", socket, "-f", "/dev/null", "new-session", "/bin/sh", ";", "set", "-g", "default-command", "/bin/sh", ";", "set", "-g", "history-limit", "20000")...)
		for n := 1; n <= benchTabs; n++ {
			if n > 1 {
				d.send("\x02c")
			}
			d.until("a window", patience, func(screen string) bool { return strings.Count(screen, ":sh") == n && prompted(screen) })
			d.send(benchLines)
			d.see(patience, "all-2")
		}
		benchAttach(b, home, append(localShell, "tmux", "-S", socket, "attach"))
	})
}

// benchAttach attaches and leaves again and again.
func benchAttach(b *testing.B, home string, argv []string) {
	b.Helper()
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		v := driveArgv(b, home, 200, 50, argv...)
		times = append(times, v.prints(b, "all-2").Sub(began))
		v.signal(syscall.SIGHUP)
		v.exit(patience)
	}
	reportMedian(b, times)
}

// prints returns when the program's raw output had the text for the first time. It is called
// before the program can have printed it.
func (d *driver) prints(b *testing.B, text string) time.Time {
	b.Helper()
	at := make(chan time.Time, 1)
	var tail []byte
	tap := func(data []byte) {
		tail = append(tail, data...)
		if bytes.Contains(tail, []byte(text)) {
			select {
			case at <- time.Now():
			default:
			}
		}
		tail = tail[max(0, len(tail)-len(text)):]
	}
	d.tap.Store(&tap)
	defer d.tap.Store(nil)
	select {
	case t := <-at:
		return t
	case <-time.After(patience):
		b.Fatalf("%q was not printed; the screen:\n%s", text, d.text())
		return time.Time{}
	}
}

var memoryLine = regexp.MustCompile(`(?m)^(Rss|Pss): +(\d+) kB$`)

// memory returns what a process has in memory, in kB: all of it ("Rss"), or with its share of what
// it has together with others ("Pss").
func memory(b *testing.B, pid int, kind string) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range memoryLine.FindAllSubmatch(text, -1) {
		if string(m[1]) == kind {
			n, _ := strconv.Atoi(string(m[2]))
			return n
		}
	}
	b.Fatalf("the kernel tells no %s of process %d", kind, pid)
	return 0
}

// BenchmarkStart measures from starting the program to a shell's prompt, without a daemon:
//
//	go test -run '^$' -bench 'Start$' -benchtime 20x ./cmd/ironcurtain-mux
func BenchmarkStart(b *testing.B) {
	asInstalled(b)
	home := newHome(b)
	configure(b, home, `{"localShell":true}`)
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		d := driveArgv(b, home, 200, 50, append(localShell, "ironcurtain-mux", "--agent", "local-shell")...)
		times = append(times, d.prints(b, "/$ ").Sub(began))
		b.StopTimer()
		d.send("\x01/quit!\r")
		d.exit(patience)
		d.stop()
		b.StartTimer()
	}
	reportMedian(b, times)
}

// BenchmarkEchoBeside measures a key's echo while two more clients show the tab, of which one is
// stopped, beside a client that is alone:
//
//	go test -run '^$' -bench EchoBeside -benchtime 2000x ./cmd/ironcurtain-mux
func BenchmarkEchoBeside(b *testing.B) {
	home := newHome(b)
	configure(b, home, `{"localShell":true}`)
	d := driveArgv(b, home, 100, 30, append(localShell, "ironcurtain-mux", "--agent", "local-shell")...)
	d.until("a prompt", patience, prompted)
	b.Run("alone", func(b *testing.B) { echo(b, d) })
	var others []*driver
	for range 2 {
		v := driveArgv(b, home, 100, 30, append(localShell, "ironcurtain-mux", "attach")...)
		v.until("a prompt", patience, prompted)
		others = append(others, v)
	}
	others[0].signal(syscall.SIGSTOP)
	defer others[0].signal(syscall.SIGCONT)
	b.Run("with-two", func(b *testing.B) { echo(b, d) })
}

// BenchmarkDetached measures how long 50 MB of output take while nobody looks, and the processor
// time that the multiplexer uses for it, beside tmux:
//
//	go test -run '^$' -bench Detached -benchtime 5x ./cmd/ironcurtain-mux
func BenchmarkDetached(b *testing.B) {
	text := filepath.Join(b.TempDir(), "text")
	line := strings.Repeat("a line of plain output as compilers print it ", 2) + "\n"
	if err := os.WriteFile(text, []byte(strings.Repeat(line, 50<<20/len(line))), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("ironcurtain-mux", func(b *testing.B) {
		home := newHome(b)
		configure(b, home, `{"localShell":true}`)
		d := driveArgv(b, home, 120, 40, append(localShell, "ironcurtain-mux", "--agent", "local-shell")...)
		d.until("a prompt", patience, prompted)
		benchDetached(b, d, text, d.daemon())
	})
	b.Run("tmux", func(b *testing.B) {
		socket := filepath.Join(b.TempDir(), "s")
		defer exec.Command("tmux", "-S", socket, "kill-server").Run() // it may be gone
		d := driveArgv(b, newHome(b), 120, 40, append(localShell, "tmux", "-S", socket, "-f", "/dev/null", "new-session", "/bin/sh")...)
		d.until("a prompt", patience, prompted)
		out, err := exec.Command("tmux", "-S", socket, "display-message", "-p", "#{pid}").Output()
		if err != nil {
			b.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		benchDetached(b, d, text, pid)
	})
}

// benchDetached has the shell print the text once for each byte that it gets over a pipe.
func benchDetached(b *testing.B, d *driver, text string, server int) {
	b.Helper()
	dir := b.TempDir()
	begin, ended := filepath.Join(dir, "begin"), filepath.Join(dir, "ended")
	for _, pipe := range []string{begin, ended} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	d.send(fmt.Sprintf("while read x <%s; do cat %s; echo done >%s; done\r", begin, text, ended))
	d.see(patience, "; done")
	d.signal(syscall.SIGHUP)
	d.exit(patience)
	var wall, cpu []time.Duration
	for b.Loop() {
		used, began := processorTime(b, server), time.Now()
		if err := os.WriteFile(begin, []byte("go\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		if _, err := os.ReadFile(ended); err != nil {
			b.Fatal(err)
		}
		wall, cpu = append(wall, time.Since(began)), append(cpu, processorTime(b, server)-used)
	}
	b.ReportMetric(float64(median(wall).Milliseconds()), "wall-p50-ms")
	b.ReportMetric(float64(median(cpu).Milliseconds()), "cpu-p50-ms")
}

// processorTime is what a process has used, in the kernel's steps of 10 ms.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// BenchmarkDecision measures from the decision about a call to its end on the last of three views:
//
//	go test -run '^$' -bench Decision -benchtime 100x ./cmd/ironcurtain-mux
func BenchmarkDecision(b *testing.B) {
	home := newHome(b)
	d := drive(b, home, 100, 30, "demo", "--agent", "shell")
	d.until("a prompt", patience, prompted)
	views := []*driver{d, attachBench(b, home), attachBench(b, home)}
	s := d.onlySession()
	outside := d.state("demo", "outside")
	var times []time.Duration
	for b.Loop() {
		ended := make(chan string, 1)
		go func() { ended <- d.toolCall(s.ID, "filesystem__list_directory", fmt.Sprintf(`{"path":%q}`, outside)) }()
		asked := d.waiting(func(broker.Escalation) bool { return true })
		for _, v := range views {
			v.see(patience, "1 waiting")
		}
		began := time.Now()
		err := running.AskIfRunning(b.Context(), d.state(), func(ctx context.Context, c *calls.Client) error {
			_, err := c.Decide(ctx, broker.Decision{ID: asked.ID, Digest: asked.Digest, By: "cli"})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		for _, v := range views {
			v.shows(b, func(screen string) bool { return !strings.Contains(screen, "1 waiting") })
		}
		times = append(times, time.Since(began))
		<-ended
	}
	reportMedian(b, times)
}

// shows waits until the screen shows something, and looks every millisecond.
func (d *driver) shows(b *testing.B, holds func(screen string) bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(d.text()); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("the screen stays:\n%s", d.text())
		}
	}
}

func attachBench(b *testing.B, home string) *driver {
	b.Helper()
	v := driveArgv(b, home, 100, 30, "ironcurtain-mux", "attach")
	v.until("a prompt", patience, prompted)
	return v
}

// BenchmarkKilled measures from the kill of a daemon with eight tabs to its client's view of the
// agents that were taken back. After a second kill within a short time it would not start another:
//
//	go test -run '^$' -bench Killed -benchtime 1x -count 5 ./cmd/ironcurtain-mux
func BenchmarkKilled(b *testing.B) {
	asInstalled(b)
	home := newHome(b)
	configure(b, home, `{"agent":"shell","maxSessions":9}`)
	d := drive(b, home, 120, 30)
	for n := 1; n <= benchTabs; n++ {
		if n > 1 {
			d.send("\x01/new\r")
		}
		d.until("a tab", patience, func(screen string) bool { return len(d.sessions()) == n && strings.Contains(screen, "/workspace$") })
		d.send("echo still-$((1+1))\r")
		d.see(patience, "still-2")
	}
	var times []time.Duration
	for b.Loop() {
		again := d.takesTerminal()
		pid, began := d.daemon(), time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		select {
		case <-again:
		case <-time.After(time.Minute):
			b.Fatalf("no other daemon was started:\n%s", d.text())
		}
		d.shows(b, func(screen string) bool { return strings.Contains(screen, "still-2") })
		times = append(times, time.Since(began))
		d.until("all tabs", time.Minute, func(string) bool { return len(d.sessions()) == benchTabs && d.daemon() != pid })
	}
	reportMedian(b, times)
}
