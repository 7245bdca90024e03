package fakeengine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long tests wait for the engine. Only a failing test takes so long.
const patience = 2 * time.Minute

// realEngine returns the machine's real engine, and the path of its socket.
func realEngine(t testing.TB) (*docker.Client, string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := docker.Choice{}.Resolve(os.Getenv, home)
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, endpoint), endpoint.SocketPath()
}

func connect(t testing.TB, endpoint docker.Endpoint) *docker.Client {
	t.Helper()
	c, err := docker.Connect(deadline(t), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// through starts an engine with faults, and connects to it.
func through(t testing.TB, f fakeengine.Faults) (*docker.Client, *fakeengine.Engine) {
	t.Helper()
	_, socket := realEngine(t)
	e := fakeengine.Start(t, socket, f)
	return connect(t, docker.Endpoint{Address: e.Address(), Source: "test"}), e
}

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// spec orders a container that waits to be removed.
func spec(t testing.TB) docker.Spec {
	t.Helper()
	c, _ := realEngine(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	tag, err := c.EnsureImage(context.Background(), "shell", docker.BuildOptions{
		CacheDir:   docker.DefaultCacheDir(os.Getenv, home),
		Recipe:     docker.Recipe{Toolchains: []string{"build", "node", "python"}},
		OnProgress: func(p docker.Progress) { t.Log(p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// With the labels of a lease, others do not take the container for a forgotten one.
	lease, err := docker.AcquireLease(filepath.Join(dir, "test.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release() })
	return docker.Spec{
		Image: tag, Cmd: []string{"sleep", "1000"}, User: "1000:1000", WorkingDir: "/tmp",
		Labels: lease.Labels(), MemoryMB: 64, CPUs: 1, Pids: 64,
	}
}

// start starts a container, removed at the end.
func start(t testing.TB, c *docker.Client, s docker.Spec) *docker.Container {
	t.Helper()
	ct, err := c.Start(deadline(t), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := ct.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return ct
}

// inside runs a shell command in a container and returns what it printed.
func inside(t testing.TB, c *docker.Client, id, script string) string {
	t.Helper()
	out, errs, code, err := c.Exec(deadline(t), id, []string{"sh", "-c", script}, "1000:1000")
	if err != nil || code != 0 {
		t.Fatalf("%s: code %d, %v: %s%s", script, code, err, out, errs)
	}
	return strings.TrimSpace(out)
}

// dial opens a connection to an engine at a Unix socket. It ends with the test.
func dial(t testing.TB, address string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: strings.TrimPrefix(address, "unix://"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask sends a request on a connection of its own and returns status and body of the
// answer.
func ask(t testing.TB, address, method, path, body string) (int, string) {
	t.Helper()
	conn := dial(t, address)
	defer conn.Close()
	status, in := send(t, conn, method, path, body, false)
	text, err := io.ReadAll(status.Body)
	if err != nil {
		t.Fatalf("%s %s: %v after %d bytes, %d buffered", method, path, err, len(text), in.Buffered())
	}
	return status.StatusCode, string(text)
}

// send sends a request and reads the head of the answer.
func send(t testing.TB, conn io.ReadWriter, method, path, body string, upgrade bool) (*http.Response, *bufio.Reader) {
	t.Helper()
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", method, path, len(body))
	if upgrade {
		text += "Connection: Upgrade\r\nUpgrade: tcp\r\n"
	}
	if _, err := io.WriteString(conn, text+"\r\n"+body); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer, in
}

// execute runs a shell command in a container, through a stream whose reader it
// returns, with the status of the answer. The command has a terminal's output form:
// bytes as they are.
func execute(t testing.TB, address, id, script string, upgrade bool) (*net.UnixConn, *bufio.Reader, int) {
	t.Helper()
	conn := dial(t, address)
	answer, in := send(t, conn, http.MethodPost, "/exec/"+prepare(t, address, id, script)+"/start", `{"Detach":false,"Tty":false}`, upgrade)
	return conn, in, answer.StatusCode
}

// prepare creates what execute runs, and returns its identifier.
func prepare(t testing.TB, address, id, script string) string {
	t.Helper()
	order, err := json.Marshal(map[string]any{
		"AttachStdin": true, "AttachStdout": true, "Cmd": []string{"sh", "-c", script}, "User": "1000:1000",
	})
	if err != nil {
		t.Fatal(err)
	}
	status, body := ask(t, address, http.MethodPost, "/containers/"+id+"/exec", string(order))
	var created struct{ ID string }
	if err := json.Unmarshal([]byte(body), &created); err != nil || status != http.StatusCreated {
		t.Fatalf("status %d: %s", status, body)
	}
	return created.ID
}

// output reads the next n bytes that a program printed, without the engine's frames.
func output(t testing.TB, in io.Reader, n int) string {
	t.Helper()
	var all []byte
	for len(all) < n {
		piece, err := frame(in)
		if err != nil {
			t.Fatalf("%v after %q", err, all)
		}
		all = append(all, piece...)
	}
	return string(all)
}

// frame reads one frame of output.
func frame(in io.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	piece := make([]byte, int(head[4])<<24|int(head[5])<<16|int(head[6])<<8|int(head[7]))
	_, err := io.ReadFull(in, piece)
	return piece, err
}

// rest reads all that a program still prints.
func rest(t testing.TB, in io.Reader) string {
	t.Helper()
	var all []byte
	for {
		piece, err := frame(in)
		all = append(all, piece...)
		if errors.Is(err, io.EOF) {
			return string(all)
		}
		if err != nil {
			t.Fatalf("%v after %q", err, all)
		}
	}
}
