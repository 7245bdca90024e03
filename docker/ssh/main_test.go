package ssh

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// roleVariable makes the test binary play another process; see TestMain.
const roleVariable = "IRONCURTAIN_SSH_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "tunnel" { // reach a machine, until killed or told to become another program
		if err := holdTunnel(os.Args[1]); err != nil {
			fmt.Println(err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// holdTunnel prints the directory of a tunnel's socket, and leaves it only by what it becomes.
func holdTunnel(address string) error {
	target, err := Parse(address)
	if err != nil {
		return err
	}
	tunnel, err := New(target, Options{})
	if err != nil {
		return err
	}
	if _, err := tunnel.Dial(context.Background()); err != nil {
		return err
	}
	fmt.Println(filepath.Dir(tunnel.now.socket))
	if _, err := fmt.Scanln(); err != nil {
		select {}
	}
	return syscall.Exec("/bin/cat", []string{"cat"}, os.Environ())
}

// patience is how long tests wait for ssh. Only a failing test takes so long.
const patience = time.Minute

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// machine starts one that ssh reaches, where a server answers that says nothing but "pong", and
// makes its person's ssh the one that is found.
func machine(t *testing.T, s fakeengine.SSH) *fakeengine.Engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := new(net.ListenConfig).Listen(deadline(t), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: patience,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pong") }),
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-served })
	e := fakeengine.StartSSH(t, socket, fakeengine.Faults{}, s)
	t.Setenv("PATH", e.Commands()+":"+os.Getenv("PATH"))
	return e
}

// through returns a tunnel to such a machine.
func through(t *testing.T, e *fakeengine.Engine) *Tunnel {
	t.Helper()
	target, err := Parse(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	tunnel, err := New(target, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tunnel.Close)
	return tunnel
}

// dial opens a connection, which is closed at the end.
func dial(t *testing.T, tunnel *Tunnel) net.Conn {
	t.Helper()
	conn, err := tunnel.Dial(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask sends a request on a connection, and fails if the server does not answer it.
func ask(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET /_ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "pong") {
		t.Fatalf("it answers %q, %v", answer, err)
	}
}
