package docker

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestConnect(t *testing.T) {
	c := connect(t)
	info, err := c.Version(deadline(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	if info.Version == "" || info.APIVersion == "" || info.CPUs < 1 || info.MemoryBytes == 0 || info.Seccomp != "default" {
		t.Errorf("the engine says too little of itself: %+v", info)
	}
	if info.InitBinary == "" || info.InitVersion == "" || len(info.Warnings) > 0 {
		t.Errorf("init program %q %q, warnings %q", info.InitBinary, info.InitVersion, info.Warnings)
	}
}

func TestConnectErrors(t *testing.T) {
	dir := shortDir(t)
	stale := filepath.Join(dir, "stale.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	file := filepath.Join(dir, "file")
	write(t, file, "no socket")
	tests := []struct {
		name, path string
		want       error
		hint       string
	}{
		{"nobody listens", stale, ErrEngineNotRunning, startHint},
		{"no socket", filepath.Join(dir, "none.sock"), ErrEngineNotRunning, startHint},
		{"a plain file", file, ErrEngineNotRunning, startHint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Connect(deadline(t, patience), Endpoint{Address: "unix://" + tt.path})
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if h := fault.Hint(err); h != tt.hint {
				t.Errorf("hint %q", h)
			}
		})
	}
}

func TestDiagnose(t *testing.T) {
	missing := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENOENT)}
	tests := []struct {
		name      string
		err       error
		installed bool
		want      error
		hint      string
	}{
		{"no socket, no engine", missing, false, ErrNoEngine, installHint},
		{"no socket, an engine", missing, true, ErrEngineNotRunning, startHint},
		{"refused", os.NewSyscallError("connect", syscall.ECONNREFUSED), false, ErrEngineNotRunning, startHint},
		{"forbidden", os.NewSyscallError("connect", syscall.EACCES), true, ErrPermission, groupHint},
		{"too slow", context.DeadlineExceeded, true, ErrEngineRefuses, refuseHint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := diagnose("open x", tt.err, tt.installed)
			var e *fault.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Hint() != tt.hint {
				t.Errorf("got %v (%v)", err, e)
			}
		})
	}
}

// serve answers every connection to a fresh socket with text and returns the
// address; an empty text never answers.
func serve(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(shortDir(t), "d.sock")
	l := listen(t, path)
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if text == "" {
				go func() { <-stop; conn.Close() }()
				continue
			}
			buf := make([]byte, 4096)
			_, _ = conn.Read(buf)
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}()
	t.Cleanup(func() { close(stop); l.Close(); <-done })
	return "unix://" + path
}

func TestConnectRefusing(t *testing.T) {
	for name, answer := range map[string]string{
		"forbidden":   "HTTP/1.1 403 Forbidden\r\nContent-Length: 23\r\n\r\n{\"message\":\"go away\"}  ",
		"not docker":  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"not HTTP":    "SSH-2.0-OpenSSH_9.9\r\n",
		"hangs up":    "\r\n",
		"stays quiet": "",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			_, err := Connect(ctx, Endpoint{Address: serve(t, answer)})
			if !errors.Is(err, ErrEngineRefuses) {
				t.Fatalf("got %v, want %v", err, ErrEngineRefuses)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestConnectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := Connect(ctx, Endpoint{Address: serve(t, "")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The error for a user without permission to open the socket says so. Root may open
// every socket, so the test runs a copy of itself as nobody.
func TestConnectPermission(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "d.sock")
	listen(t, path)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	out := runRole(t, "connect", os.Getuid() == 0, "unix://"+path)
	if !strings.Contains(out, ErrPermission.Error()) || !strings.Contains(out, "group docker") {
		t.Errorf("said %q", out)
	}
}

// roleCommand prepares a copy of the test binary in a role of TestMain.
func roleCommand(t *testing.T, role string, asNobody bool, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	program := filepath.Join(dir, "role")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Dir = "/"
	if asNobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

func runRole(t *testing.T, role string, asNobody bool, args ...string) string {
	t.Helper()
	out, err := roleCommand(t, role, asNobody, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The remedy for an address that a person chose says where it was chosen.
func TestRemedyFitsWhereTheAddressIsFrom(t *testing.T) {
	address := "unix://" + filepath.Join(shortDir(t), "none.sock")
	for source, want := range map[string]string{
		"DOCKER_HOST": "unset DOCKER_HOST", "context mine": "start the engine of context mine", "the system's socket": "systemctl start docker",
	} {
		t.Run(source, func(t *testing.T) {
			_, err := Connect(deadline(t, patience), Endpoint{Address: address, Source: source})
			if h := fault.Hint(err); !strings.Contains(h, want) {
				t.Errorf("%s: %v, hint %v", source, err, h)
			}
		})
	}
}
