package ports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/freeport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

// opened is a Forwarder that is served on a socket, and what it told.
type opened struct {
	*Forwarder
	socket string
	mu     sync.Mutex
	told   []string
}

// serve serves a Forwarder until the test ends.
func serve(t testing.TB) *opened {
	t.Helper()
	o := &opened{socket: filepath.Join(t.TempDir(), "s")}
	o.Forwarder = New(func(text string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.told = append(o.told, text)
	})
	l, err := net.Listen("unix", o.socket)
	if err != nil {
		t.Fatal(err)
	}
	run(t, func(ctx context.Context) { o.Serve(ctx, l) })
	return o
}

// run runs f until the test ends.
func run(t testing.TB, f func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// connected serves a Forwarder with a bridge behind it.
func connected(t testing.TB) *opened {
	t.Helper()
	o := serve(t)
	run(t, func(ctx context.Context) { bridge.Ports(ctx, o.socket) })
	o.await(t, "the control connection", func() bool { return o.control != nil })
	return o
}

// await waits until a state of the Forwarder is reached.
func (o *opened) await(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for begin := time.Now(); ; {
		o.Forwarder.mu.Lock()
		ok := reached()
		o.Forwarder.mu.Unlock()
		if ok {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("%s does not come", what)
		}
		<-time.After(time.Millisecond)
	}
}

// forwardTo opens a port for a listener "in the container" and returns its address.
func (o *opened) forwardTo(t testing.TB, inside net.Addr) string {
	t.Helper()
	for {
		p := Port{Container: inside.(*net.TCPAddr).Port, Host: freeport.Find(t)}
		err := o.Open(p)
		if err == nil {
			return fmt.Sprintf("127.0.0.1:%d", p.Host)
		}
		if !strings.Contains(err.Error(), "is used by another program") {
			t.Fatal(err)
		}
	}
}

// An HTTP server is reached on both addresses of the loopback interface, also one that
// listens on ::1 alone.
func TestHTTP(t *testing.T) {
	o := connected(t)
	hosts := []string{"127.0.0.1"}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil { // else this machine has one address only
		_ = l.Close()
		hosts = append(hosts, "[::1]")
	}
	for _, host := range hosts {
		address := host + ":0"
		t.Run(address, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_ = server.Listener.Close()
			server.Listener = l
			server.Start()
			defer server.Close()
			at := o.forwardTo(t, l.Addr())
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
			for _, host := range hosts {
				answer, err := client.Get("http://" + strings.Replace(at, "127.0.0.1", host, 1))
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(answer.Body)
				_ = answer.Body.Close()
				if err != nil || string(text) != "hello" {
					t.Errorf("%q, %v", text, err)
				}
			}
		})
	}
}

// A direction can end alone, and bytes still pass the other way.
func TestHalfClose(t *testing.T) {
	o := connected(t)
	inside := echo(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c) // to the client's end
		_, _ = c.Write(bytes.ToUpper(all))
	})
	conn := dial(t, o.forwardTo(t, inside))
	if _, err := io.WriteString(conn, "to the end"); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "TO THE END" {
		t.Errorf("%q, %v", got, err)
	}
}

// echo serves connections "in the container" until the test ends.
func echo(t testing.TB, answer func(*net.TCPConn)) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	run(t, func(ctx context.Context) {
		stop := context.AfterFunc(ctx, func() { _ = l.Close() })
		defer stop()
		var conns sync.WaitGroup
		defer conns.Wait()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				answer(c.(*net.TCPConn))
			})
		}
	})
	return l.Addr()
}

func dial(t testing.TB, address string) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// A connection to a port that nothing listens on is closed, and the person is told once.
func TestNobodyListens(t *testing.T) {
	o := connected(t)
	p := Port{Container: freeport.Find(t), Host: freeport.Find(t)}
	if err := o.Open(p); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n, err := io.Copy(io.Discard, dial(t, fmt.Sprintf("127.0.0.1:%d", p.Host))); n != 0 || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if want := fmt.Sprintf("a connection to port %d was closed: nothing listens on it in the container", p.Container); len(o.told) != 1 || o.told[0] != want {
		t.Errorf("told %q", o.told)
	}
}

// A connection waits for the bridge, and ports work after the bridge has connected again.
func TestBridgeAway(t *testing.T) {
	o := serve(t)
	inside := echo(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	at := o.forwardTo(t, inside)
	conn := dial(t, at)
	run(t, func(ctx context.Context) { bridge.Ports(ctx, o.socket) })
	for range 2 {
		_, _ = io.WriteString(conn, "again\n")
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "again\n" {
			t.Errorf("%q, %v", line, err)
		}
		o.Forwarder.mu.Lock()
		control := o.control
		o.Forwarder.mu.Unlock()
		_ = control.Close() // as when a multiplexer is killed
		o.await(t, "its end", func() bool { return o.control != control })
		conn = dial(t, at)
	}
}

// A port that another program has, that is open already, or that was closed is refused with
// a line that says so.
func TestRefusals(t *testing.T) {
	o := connected(t)
	inside := echo(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	port := inside.(*net.TCPAddr).Port
	err := o.Open(Port{Container: port, Host: port})
	if err == nil || err.Error() != fmt.Sprintf("port %d of this machine is used by another program", port) || !strings.HasPrefix(fault.Hint(err), fmt.Sprintf("use another one: /port %d ", port)) {
		t.Errorf("%v, %q", err, fault.Hint(err))
	}
	at := o.forwardTo(t, inside)
	if err := o.Open(Port{Container: port, Host: freeport.Find(t)}); err == nil || !strings.Contains(err.Error(), "is open at localhost:") {
		t.Error(err)
	}
	conn := dial(t, at)
	_, _ = io.WriteString(conn, "x\n")
	_, _ = bufio.NewReader(conn).ReadString('\n')
	host := o.List()[0].Host // by which the person knows it, too
	if err := o.Close(host); err == nil || fault.Hint(err) != fmt.Sprintf("/port close %d closes it", port) {
		t.Errorf("%v, %q", err, fault.Hint(err))
	}
	if err := o.Close(port); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, context.DeadlineExceeded) {
		t.Error("its connections go on")
	}
	if err := o.Close(port); err == nil || len(o.List()) != 0 {
		t.Errorf("%v, %v", err, o.List())
	}
	if _, err := net.Dial("tcp", at); err == nil {
		t.Error("it still listens")
	}
}

// An agent that speaks the bridge's protocol gets no connection that nobody on the host began,
// and cannot keep the Forwarder from working.
func TestFalseBridge(t *testing.T) {
	o := connected(t)
	for _, first := range []string{
		"", "GET / HTTP/1.1\r\nHost: localhost:3000\r\nAccept: */*\r\n\r\n",
		"connect 00000000000000000000000000000000\n", "refused 00000000000000000000000000000000\n",
		"connect zz000000000000000000000000000000\n", "control_00000000000000000000000000000000\n",
	} {
		conn, err := net.Dial("unix", o.socket)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, first)
		_ = conn.(*net.UnixConn).CloseWrite()
		if n, err := io.Copy(io.Discard, conn); n != 0 || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q is answered with %d bytes, %v", first, n, err)
		}
		_ = conn.Close()
	}
	inside := echo(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	conn := dial(t, o.forwardTo(t, inside))
	_, _ = io.WriteString(conn, "still\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "still\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// A client that does not read slows the program in the container down, and nothing is kept
// in memory for it.
func TestBackPressure(t *testing.T) {
	o := connected(t)
	sent := make(chan int64, 1)
	inside := echo(t, func(c *net.TCPConn) {
		_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second))
		n, _ := io.Copy(c, io.LimitReader(zeros{}, 1<<30))
		sent <- n
	})
	dial(t, o.forwardTo(t, inside))
	if n := <-sent; n >= 256<<20 {
		t.Errorf("%d bytes were taken for a client that reads nothing", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// Connections beyond the limit wait until another one ends.
func TestConnectionsAreBounded(t *testing.T) {
	o := connected(t)
	o.slots = make(chan struct{}, 1)
	var served atomic.Int32
	at := o.forwardTo(t, echo(t, func(c *net.TCPConn) {
		served.Add(1)
		_, _ = io.Copy(c, c)
	}))
	var all []*net.TCPConn
	for range 2 {
		conn := dial(t, at)
		_, _ = io.WriteString(conn, "x\n")
		all = append(all, conn)
	}
	if line, err := bufio.NewReader(all[0]).ReadString('\n'); err != nil || line != "x\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if n := served.Load(); n != 1 {
		t.Errorf("%d connections are carried", n)
	}
	_ = all[0].Close()
	if line, err := bufio.NewReader(all[1]).ReadString('\n'); err != nil || line != "x\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// admit lets "the container" reach a listener of the host, and returns where.
func (o *opened) admit(t testing.TB, host net.Addr) Port {
	t.Helper()
	for {
		p := Port{Container: freeport.Find(t), Host: host.(*net.TCPAddr).Port, Out: true}
		err := o.Admit(t.Context(), p)
		if err == nil {
			return p
		}
		if !strings.Contains(err.Error(), "uses port") {
			t.Fatal(err)
		}
	}
}

// inside is the address of a port "in the container".
func (p Port) inside() string { return fmt.Sprintf("127.0.0.1:%d", p.Container) }

// Programs in the container reach a port of the host that the person has named, until it is
// closed. Connections that were open then end.
func TestAdmit(t *testing.T) {
	o := connected(t)
	p := o.admit(t, echo(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) }))
	conn := dial(t, p.inside())
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	if s := o.String(); s != fmt.Sprintf("%d→localhost:%d", p.Container, p.Host) {
		t.Errorf("it is shown as %q", s)
	}
	if err := o.Admit(t.Context(), p); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
	if err := o.Close(p.Container); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(got); err == nil {
		t.Error("a connection stays open after the port was closed")
	}
	for begin := time.Now(); ; {
		c, err := net.Dial("tcp", p.inside())
		if err != nil {
			break
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(got); err == nil {
			t.Fatal("a connection to a closed port is carried")
		}
		_ = c.Close()
		if time.Since(begin) > patience {
			t.Fatal("the bridge still listens")
		}
	}
	if err := o.Close(p.Container); err == nil {
		t.Error("it is closed twice")
	}
}

// A port that a program of the container uses, and one of the host that nothing listens on,
// are told of.
func TestAdmitRefusals(t *testing.T) {
	o := connected(t)
	taken := echo(t, func(*net.TCPConn) {})
	err := o.Admit(t.Context(), Port{Container: taken.(*net.TCPAddr).Port, Host: freeport.Find(t), Out: true})
	if err == nil || !strings.Contains(err.Error(), "uses port") || !strings.Contains(fault.Hint(err), "/port --to") {
		t.Errorf("a port that is taken in the container: %v", err)
	}
	p := o.admit(t, &net.TCPAddr{Port: freeport.Find(t)})
	for range 2 {
		if _, err := dial(t, p.inside()).Read(make([]byte, 1)); err == nil {
			t.Error("something answers where nothing listens")
		}
	}
	o.await(t, "the notice", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return len(o.told) == 1 })
	if !strings.Contains(o.told[0], fmt.Sprintf("port %d of this machine failed", p.Host)) {
		t.Errorf("the person is told %q", o.told)
	}
}

// A program that speaks to the socket itself reaches nothing but what the person has named.
func TestOnlyAdmittedPortsAreReached(t *testing.T) {
	o := connected(t)
	reached := make(chan struct{}, 1)
	host := echo(t, func(*net.TCPConn) { reached <- struct{}{} }).(*net.TCPAddr)
	p := o.admit(t, echo(t, func(*net.TCPConn) {}))
	for _, port := range []int{host.Port, p.Host, p.Container + 1, 0} {
		c, err := net.Dial("unix", o.socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "%s %x\n", bridge.HelloOutward, bridge.OutwardTicket(uint16(port))); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("port %d: %d bytes, %v", port, n, err)
		}
		_ = c.Close()
	}
	select {
	case <-reached:
		t.Error("a port that nobody has named was reached")
	default:
	}
}
