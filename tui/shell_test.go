package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// shellBroker runs a host shell as the agent of every session.
type shellBroker struct {
	*fakeBroker
	started []*shellTerminal
}

type shellTerminal struct {
	*os.File
	cmd *exec.Cmd
}

func (s *shellTerminal) CopyTo(w io.Writer) error {
	_, err := io.Copy(w, s.File)
	if errors.Is(err, unix.EIO) { // the program has ended
		return nil
	}
	return err
}

// TryWrite writes at most 16 bytes, which the terminal takes without waiting.
func (s *shellTerminal) TryWrite(p []byte) (int, error) { return s.Write(p[:min(len(p), 16)]) }

func (s *shellTerminal) Resize(_ context.Context, cols, rows int) error {
	return setSize(s.File, cols, rows)
}

// setSize changes the size of a terminal.
func setSize(f *os.File, cols, rows int) error {
	raw, err := f.SyscallConn() // Fd would make reads impossible to interrupt
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
	return errors.Join(err, failed)
}

func (b *shellBroker) Attach(context.Context, broker.SessionID) (broker.Terminal, error) {
	cmd := exec.Command("/bin/sh", "-i")
	cmd.Env = []string{"TERM=xterm-256color", "PS1=ok$ ", "PATH=" + os.Getenv("PATH")}
	f, err := pty.Start(cmd)
	if err != nil {
		return nil, err
	}
	t := &shellTerminal{f, cmd}
	b.mu.Lock()
	b.started = append(b.started, t)
	b.mu.Unlock()
	return t, nil
}

// History is 0, because the shell is new.
func (s *shellTerminal) FormerSize() (cols, rows int) { return 0, 0 }

func (s *shellTerminal) History() int64 { return 0 }

// Close ends the shell.
func (s *shellTerminal) Close() error {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	return s.File.Close()
}

// TestRealShell uses a real shell: sizes, control keys and job control reach it, and its end
// is noticed.
func TestRealShell(t *testing.T) {
	// Tests that run in the background ignore SIGINT, and a shell would inherit that.
	interrupts := make(chan os.Signal, 1)
	ossignal.Notify(interrupts, os.Interrupt)
	defer ossignal.Stop(interrupts)
	b := &shellBroker{fakeBroker: newFakeBroker()}
	p := startMuxWith(t, b.fakeBroker, b, 80, 24, Options{Agent: "shell"})
	p.sees("ok$")
	p.types("stty size\r")
	p.sees("22 80")
	// The program itself writes this, so that the shell has made it the foreground process
	// before the key is sent.
	p.types("sh -c 'echo be\"\"gun; exec sleep 100'\r")
	p.sees("begun")
	p.types("\x03")
	p.sees("^C")
	p.types("echo $((6*7))\r")
	p.sees("42")
	p.types("exit\r")
	p.types("\x01/quit!\r")
	p.leaves()
}

// BenchmarkEcho measures a key's way to a shell's terminal driver and its echo
// back to the person's screen, through two ptys.
func BenchmarkEcho(b *testing.B) {
	fake := &shellBroker{fakeBroker: newFakeBroker()}
	p := startMuxWith(b, fake.fakeBroker, fake, 80, 24, Options{Agent: "shell"})
	p.sees("ok$")
	p.types("stty raw echo; exec cat >/dev/null\r")
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		<-time.After(5 * time.Millisecond) // people type slower than frames come
		key := string(rune('a' + i%26))
		seen := p.bytes()
		start := time.Now()
		p.types(key)
		for !strings.Contains(p.since(seen), key) && time.Since(start) < time.Second {
			<-p.read
		}
		times = append(times, time.Since(start))
	}
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	p.types("\x01/quit!\r")
	p.leaves()
}
