package docker

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/ssh"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// sshEngine starts an engine that ssh leads to, and makes its person's ssh the one that is found.
func sshEngine(t *testing.T, s fakeengine.SSH) (*fakeengine.Engine, Endpoint) {
	t.Helper()
	e := fakeengine.StartSSH(t, connect(t).Endpoint().SocketPath(), fakeengine.Faults{}, s)
	t.Setenv("PATH", e.Commands()+":"+os.Getenv("PATH"))
	return e, Endpoint{Address: e.Address(), Source: "test"}
}

// overSSH returns a client of such an engine.
func overSSH(t *testing.T, s fakeengine.SSH) (*Client, *fakeengine.Engine) {
	t.Helper()
	e, endpoint := sshEngine(t, s)
	c, err := Connect(deadline(t, patience), endpoint)
	if err != nil {
		t.Fatalf("%v (%s)", err, fault.Hint(err))
	}
	t.Cleanup(func() { _ = c.Close(deadline(t, patience)) })
	return c, e
}

// ways are how a machine can be set.
var ways = map[string]fakeengine.SSH{"forwarded": {}, "not forwarded": {NoForwarding: true}}

// Containers, their terminals and programs work over ssh as over a socket.
func TestSSH(t *testing.T) {
	for name, s := range ways {
		t.Run(name, func(t *testing.T) {
			c, e := overSSH(t, s)
			if c.Endpoint().Local() {
				t.Error("it is local")
			}
			ct := start(t, c, nil, "sh", "-c", "stty -echo; echo ready; read line; echo heard $line; exit 7")
			in := bufio.NewReader(ct)
			readUntil(t, in, "ready\r\n")
			if _, err := ct.Write([]byte("this\n")); err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(in); err != nil || !strings.Contains(string(said), "heard this\r\n") {
				t.Errorf("the terminal says %q, %v", said, err)
			}
			if exit, err := ct.Wait(deadline(t, patience)); err != nil || exit.Code != 7 {
				t.Errorf("it ended with %+v, %v", exit, err)
			}
			h := detached(t, c, nil, "sleep", "1000")
			conn := open(t, c, h.ID(), "sh", "-c", "cat; echo the end")
			want := strings.Repeat("all bytes are passed on: \x00\xff\x1d\r\n", 20_000)
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(conn, want)
				sent <- errors.Join(err, conn.(interface{ CloseWrite() error }).CloseWrite())
			}()
			got, err := io.ReadAll(conn)
			if err := errors.Join(err, <-sent); err != nil || string(got) != want+"the end\n" {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if n := e.Accepted(); (n > 1) != s.NoForwarding {
				t.Errorf("%d connections to the machine were made", n)
			}
		})
	}
}

// A server bounds what runs on one connection, not what is forwarded by it.
func TestSSHManyConnectionsAtOnce(t *testing.T) {
	c, e := overSSH(t, fakeengine.SSH{Sessions: 2})
	h := detached(t, c, nil, "sleep", "1000")
	var all sync.WaitGroup
	for range 12 {
		conn := open(t, c, h.ID(), "cat")
		all.Go(func() {
			if _, err := io.WriteString(conn, "hello"); err != nil {
				t.Error(err)
			}
			got := make([]byte, 5)
			if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if err := c.Alive(deadline(t, patience)); err != nil {
		t.Error(err)
	}
	if n := e.Accepted(); n != 1 {
		t.Errorf("%d connections to the machine were made", n)
	}
}

// Nothing is left after Close.
func TestSSHLeavesNothing(t *testing.T) {
	c, e := overSSH(t, fakeengine.SSH{})
	conn, err := c.dial.open(deadline(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := c.Close(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is still open")
	}
	eventually(t, patience, "the end of the connection", func() bool { return e.Connections() == 0 })
	if err := c.Ping(deadline(t, patience)); err == nil {
		t.Error("it still answers")
	}
}

// An ssh that has ended is started again by the next request.
func TestSSHIsLost(t *testing.T) {
	for name, s := range ways {
		t.Run(name, func(t *testing.T) {
			c, e := overSSH(t, s)
			h := detached(t, c, nil, "sleep", "1000")
			conn := open(t, c, h.ID(), "cat")
			if _, err := io.WriteString(conn, "x"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			e.Disconnect()
			if n, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("%d bytes came through a connection that is lost", n)
			}
			if err := c.Ping(deadline(t, patience)); err != nil {
				t.Error(err)
			}
		})
	}
}

// What ssh says becomes the reason, with what to do.
func TestSSHSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		name, said, next string
		machine          fakeengine.SSH
		address          string // instead of the engine's
	}{
		{"an unknown machine", "Host key verification failed", "once in a terminal", fakeengine.SSH{Stranger: true}, ""},
		{"no key", "Permission denied (publickey)", "ssh-add", fakeengine.SSH{NoKey: true}, ""},
		{"no such name", "Could not resolve hostname", "correct the name", fakeengine.SSH{}, "ssh://nosuchhost.invalid"},
		{"nobody listens", "Connection refused", "in a terminal", fakeengine.SSH{}, "ssh://me@127.0.0.1:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, endpoint := sshEngine(t, tt.machine)
			if tt.address != "" {
				endpoint.Address = tt.address
			}
			for name, err := range map[string]error{
				"probe":   Probe(deadline(t, patience), endpoint),
				"connect": func() error { _, err := Connect(deadline(t, patience), endpoint); return err }(),
			} {
				if !errors.Is(err, ErrSSH) || !strings.Contains(err.Error(), tt.said) || !strings.Contains(fault.Hint(err), tt.next) {
					t.Errorf("%s: %v (%s)", name, err, fault.Hint(err))
				}
			}
		})
	}
}

// Where no engine is, the program of docker's at the other end says so.
func TestSSHToNoEngine(t *testing.T) {
	_, endpoint := sshEngine(t, fakeengine.SSH{})
	at := strings.LastIndex(endpoint.Address, "/")
	endpoint.Address = endpoint.Address[:at] + "/nobody.sock"
	_, err := Connect(deadline(t, patience), endpoint)
	if !errors.Is(err, ErrEngineNotRunning) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v (%s)", err, fault.Hint(err))
	}
}

// A machine that refuses is not asked again and again.
func TestSSHIsNotTriedAllTheTime(t *testing.T) {
	e, endpoint := sshEngine(t, fakeengine.SSH{NoKey: true})
	d, err := newDialer(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for range 5 {
		if _, err := d.open(deadline(t, patience)); !errors.Is(err, ErrSSH) {
			t.Fatal(err)
		}
	}
	if n := e.Accepted(); n != 1 {
		t.Errorf("it was tried %d times", n)
	}
}

// What ssh's errors mean for an engine is said in this package's words.
func TestSSHErrorsAreOurs(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind error
		want error
	}{
		{"no way", ssh.ErrUnreachable, ErrSSH},
		{"not allowed", ssh.ErrPermission, ErrPermission},
		{"no engine", ssh.ErrNotRunning, ErrEngineNotRunning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := sshFailure(&ssh.Error{Op: "reach box", Kind: tt.kind, Cause: "why", Next: "do this"})
			if want := "reach box: " + tt.want.Error() + ": why"; !errors.Is(err, tt.want) || err.Error() != want || fault.Hint(err) != "do this" {
				t.Errorf("%v (%s), want %s", err, fault.Hint(err), want)
			}
		})
	}
}

// An address that cannot be used is told with where it came from.
func TestSSHAddressOfAnEndpoint(t *testing.T) {
	for address, want := range map[string]string{
		"ssh://me:secret@box": "the Docker endpoint is not usable: test: the address contains a password, which everybody could read",
		"ssh://-oX":           `the Docker endpoint is not usable: test: "-oX" is not the name of a machine`,
		"ssh:box":             `the Docker endpoint is not usable: test: "ssh:box" names no host`,
		"ssh://box:x":         "the Docker endpoint is not usable: test: not an address",
		"SSH://box":           `the Docker endpoint is not usable: test: unknown kind of address "SSH://box"`,
	} {
		t.Run(address, func(t *testing.T) {
			err := Endpoint{Address: address, Source: "test"}.check()
			if !errors.Is(err, ErrEndpoint) || err.Error() != want || fault.Hint(err) == "" {
				t.Errorf("%v (%s), want %s", err, fault.Hint(err), want)
			}
		})
	}
}
