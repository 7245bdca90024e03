package pty

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func startShell(t *testing.T, script string) *Program {
	t.Helper()
	p, err := Start(t.Context(), []string{"/bin/sh", "-c", script}, []string{"PATH=/usr/bin:/bin"}, t.TempDir(), 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestReadsAndEnds(t *testing.T) {
	p := startShell(t, "stty size; exit 3")
	out, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "24 80" {
		t.Errorf("the program sees size %q", got)
	}
	if code := p.Wait(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}

func TestResizeReachesTheProgram(t *testing.T) {
	p := startShell(t, "trap 'stty size; exit 0' WINCH; echo ready; while :; do read line; done")
	lines := bufio.NewScanner(p)
	for lines.Scan() && !strings.Contains(lines.Text(), "ready") {
	}
	if err := p.Resize(100, 30); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Write([]byte("\n"))
	for lines.Scan() {
		if strings.Contains(lines.Text(), "30 100") {
			return
		}
	}
	t.Error("the program never saw the new size")
}

func TestCloseKillsWhoDoesNotHangUp(t *testing.T) {
	p := startShell(t, "trap '' HUP TERM; echo $$; while :; do sleep 1; done")
	line, err := bufio.NewReader(p).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	if code := p.Wait(); code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit code %d", code)
	}
	if err := p.Close(); err != nil {
		t.Error("second close:", err)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, []string{"/bin/cat"}, nil, "/", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("still running")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := Start(t.Context(), []string{"/nonexistent/program"}, os.Environ(), "", 80, 24); err == nil {
		t.Error("no error")
	}
	if _, err := Start(t.Context(), nil, nil, "", 80, 24); err == nil {
		t.Error("no error without a command")
	}
}

// Own recognizes a program's terminal by its device, also if it is opened as /dev/tty, until the
// program is closed.
func TestOwn(t *testing.T) {
	p := startShell(t, "tty; read x")
	line, err := bufio.NewReader(p).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(strings.TrimSpace(line), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !Own(tty) || Own(null) {
		t.Errorf("the program's terminal: %v, no terminal: %v", Own(tty), Own(null))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if Own(tty) {
		t.Error("the terminal is known after its program")
	}
}
