package ssh

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// One connection to the machine carries all; where that forwards nothing, each has its own.
func TestTunnel(t *testing.T) {
	const apart = "ForkAfterAuthentication yes\nStdinNull yes\nSessionType none\n" // the person's ssh would go into the background, and do nothing there
	for name, s := range map[string]fakeengine.SSH{
		"forwarded": {}, "not forwarded": {NoForwarding: true},
		"set apart": {Config: apart}, "not forwarded, set apart": {NoForwarding: true, Config: apart},
	} {
		t.Run(name, func(t *testing.T) {
			e := machine(t, s)
			tunnel := through(t, e)
			if s.NoForwarding {
				conn := dial(t, tunnel) // ssh listens, and learns only now that the machine refuses
				if n, err := conn.Read(make([]byte, 1)); err == nil {
					t.Fatalf("%d bytes came", n)
				}
				if !tunnel.FallBack() {
					t.Error("nothing was forwarded")
				}
			}
			if tunnel.single != s.NoForwarding || tunnel.single && tunnel.FallBack() {
				t.Errorf("an ssh for each connection: %v", tunnel.single)
			}
			before := e.Accepted()
			for range 3 {
				ask(t, dial(t, tunnel))
			}
			want := map[bool]int{false: 1, true: 3}[s.NoForwarding]
			if n := e.Accepted() - before; n != want {
				t.Errorf("%d more connections to the machine, want %d", n, want)
			}
		})
	}
}

// Nobody else can connect to the socket, and nothing is left after Close.
func TestTunnelLeavesNothing(t *testing.T) {
	e := machine(t, fakeengine.SSH{})
	tunnel := through(t, e)
	conn := dial(t, tunnel)
	f := tunnel.now
	dir := filepath.Dir(f.socket)
	for path, want := range map[string]fs.FileMode{f.socket: 0o600 | fs.ModeSocket, dir: 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info, err, want)
		}
	}
	tunnel.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is still open")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
	if f.cmd.ProcessState == nil {
		t.Error("nobody waited for ssh")
	}
	eventually(t, "the end of the connection", func() bool { return e.Connections() == 0 })
	if _, err := tunnel.Dial(deadline(t)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it is opened again: %v", err)
	}
}

// Nothing is left of an ssh when the process that has started it is killed, or becomes another
// program.
func TestTunnelEndsWithTheProcess(t *testing.T) {
	for name, end := range map[string]func(*exec.Cmd, io.Writer) error{
		"killed":          func(cmd *exec.Cmd, _ io.Writer) error { return cmd.Process.Kill() },
		"another program": func(_ *exec.Cmd, in io.Writer) error { _, err := io.WriteString(in, "\n"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			e := machine(t, fakeengine.SSH{})
			cmd := exec.Command(os.Args[0], e.Address())
			cmd.Env = append(os.Environ(), roleVariable+"=tunnel")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				in.Close()
				_ = cmd.Wait()
			}()
			dir, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !filepath.IsAbs(dir) {
				t.Fatal(dir, err)
			}
			if err := end(cmd, in); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the end of ssh", func() bool {
				_, err := os.Stat(strings.TrimSpace(dir))
				return os.IsNotExist(err) && e.Connections() == 0
			})
		})
	}
}

// An ssh that somebody kills is started again by the next connection.
func TestTunnelIsKilled(t *testing.T) {
	tunnel := through(t, machine(t, fakeengine.SSH{}))
	conn := dial(t, tunnel)
	if err := syscall.Kill(-tunnel.now.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes came through a connection that is lost", n)
	}
	ask(t, dial(t, tunnel))
}

// Where the socket's directory is removed, as a clean-up of temporary files does, the next
// connection has an ssh with another one.
func TestTunnelLosesItsSocket(t *testing.T) {
	tunnel := through(t, machine(t, fakeengine.SSH{}))
	ask(t, dial(t, tunnel))
	before := filepath.Dir(tunnel.now.socket)
	if err := os.RemoveAll(before); err != nil {
		t.Fatal(err)
	}
	ask(t, dial(t, tunnel))
	if now := filepath.Dir(tunnel.now.socket); now == before {
		t.Errorf("the socket is still in %s", now)
	}
}

// An ssh ends with its tunnel also when what ends it is killed, and where it may ask, so that
// they are in no process group of their own.
func TestTunnelEndsWithoutItsGuard(t *testing.T) {
	for name, may := range map[string]bool{"silent": false, "may ask": true} {
		t.Run(name, func(t *testing.T) {
			e := machine(t, fakeengine.SSH{})
			tunnel := through(t, e)
			tunnel.ask = may
			dial(t, tunnel)
			if err := tunnel.now.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			closed := make(chan struct{})
			go func() { defer close(closed); tunnel.Close() }()
			select {
			case <-closed:
			case <-time.After(patience):
				t.Fatal("it waits for ever")
			}
			eventually(t, "the end of ssh", func() bool { return e.Connections() == 0 })
		})
	}
}

// A machine that refuses is not asked again and again, and its reason is what the caller makes of it.
func TestTunnelIsRefused(t *testing.T) {
	e := machine(t, fakeengine.SSH{NoKey: true})
	target, err := Parse(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	for name, explain := range map[string]func(*Error) error{
		"as it is":  nil,
		"explained": func(e *Error) error { return errors.Join(mine, e) },
	} {
		t.Run(name, func(t *testing.T) {
			tunnel, err := New(target, Options{Explain: explain})
			if err != nil {
				t.Fatal(err)
			}
			defer tunnel.Close()
			before := e.Accepted()
			for range 5 {
				if _, err := tunnel.Dial(deadline(t)); !errors.Is(err, ErrUnreachable) || errors.Is(err, mine) != (explain != nil) {
					t.Fatal(err)
				}
			}
			if n := e.Accepted() - before; n != 1 {
				t.Errorf("it was tried %d times", n)
			}
		})
	}
}
