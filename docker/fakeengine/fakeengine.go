package fakeengine

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Engine is an engine with faults. Its methods may be called from any goroutine.
type Engine struct {
	t       testing.TB
	real    string // path of the real engine's socket
	dir     string // for the proxy's socket, certificates, and replacements of bound paths
	address string
	certs   string
	// behind connects to what is behind the line: the proxy, or an ssh server in front of it.
	behind   func() (net.Conn, error)
	commands string // a directory with the person's ssh
	proxy    *http.Server
	calls    *http.Transport // to the real engine
	lines    net.Listener    // for clients
	pace     [2]pace         // from clients, and to clients

	life context.Context // ends with the engine
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	faults   Faults
	changed  chan struct{} // closed by Set
	closed   bool
	open     map[io.Closer]bool // connections, closed by Disconnect and at the end
	streams  int
	accepted int // connections that the line has accepted
}

// Start starts an engine at a Unix socket, in front of the real engine, whose socket has the path
// engine. It ends with the test.
func Start(t testing.TB, engine string, f Faults) *Engine {
	t.Helper()
	e := newEngine(t, engine, f)
	socket := filepath.Join(e.dir, "e.sock")
	e.address = "unix://" + socket
	e.run(e.listen("unix", socket), e.listen("unix", e.inner()))
	return e
}

// StartTLS is Start at a TCP address of this machine, with TLS and the certificates in CertDir.
func StartTLS(t testing.TB, engine string, f Faults) *Engine {
	t.Helper()
	e := newEngine(t, engine, f)
	e.certs = filepath.Join(e.dir, "certs")
	config, err := writeCertificates(e.certs)
	if err != nil {
		t.Fatal(err)
	}
	outer := e.listen("tcp", "127.0.0.1:0")
	e.address = "tcp://" + outer.Addr().String()
	e.run(outer, tls.NewListener(e.listen("unix", e.inner()), config))
	return e
}

func newEngine(t testing.TB, engine string, f Faults) *Engine {
	t.Helper()
	if engine == "" {
		t.Fatal("fakeengine: the real engine has no Unix socket")
	}
	dir, err := os.MkdirTemp("", "ice") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{t: t, real: engine, dir: dir, changed: make(chan struct{}), open: map[io.Closer]bool{}}
	e.life, e.end = context.WithCancel(context.Background())
	e.calls = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", engine)
		},
		DisableCompression: true, // answers pass as they are
	}
	e.behind = func() (net.Conn, error) { return new(net.Dialer).DialContext(e.life, "unix", e.inner()) }
	e.Set(f)
	t.Cleanup(e.close)
	return e
}

// inner returns the path of the socket between the line and the proxy.
func (e *Engine) inner() string { return filepath.Join(e.dir, "i.sock") }

func (e *Engine) listen(network, address string) net.Listener {
	e.t.Helper()
	l, err := new(net.ListenConfig).Listen(e.life, network, address)
	if err != nil {
		e.t.Fatal(err)
	}
	return l
}

// run starts the line at outer and the proxy at inner.
func (e *Engine) run(outer, inner net.Listener) {
	e.lines = outer
	e.proxy = &http.Server{
		Handler:           e.handler(),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
		// All requests end with the engine, even those that wait for a container's end.
		BaseContext: func(net.Listener) context.Context { return e.life },
	}
	e.work.Go(func() { _ = e.proxy.Serve(inner) })
	e.work.Go(func() { e.accept(outer) })
}

// close ends everything and waits for it.
func (e *Engine) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	if e.proxy != nil {
		e.lines.Close()
		e.Disconnect()
		_ = e.proxy.Close()
	}
	e.work.Wait()
	e.calls.CloseIdleConnections()
	_ = os.RemoveAll(e.dir)
}

// Address returns where the engine listens, as DOCKER_HOST has it.
func (e *Engine) Address() string { return e.address }

// CertDir returns a directory with ca.pem, cert.pem and key.pem, as DOCKER_CERT_PATH has it. It is
// empty for an engine without TLS.
func (e *Engine) CertDir() string { return e.certs }

// Set replaces all faults. Those of creation apply to the next container, Cut to the next stream, the
// others at once.
func (e *Engine) Set(f Faults) {
	if name := f.unknown(); name != "" {
		e.t.Errorf("fakeengine: Strip does not know %q", name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = f
	close(e.changed)
	e.changed = make(chan struct{})
}

// Disconnect drops all open connections, as when a network fails for a moment.
func (e *Engine) Disconnect() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.open {
		c.Close()
	}
}

// Connections returns the number of connections that the line carries now.
func (e *Engine) Connections() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for c := range e.open {
		if _, is := c.(*line); is {
			n++
		}
	}
	return n
}

// Accepted returns the number of all connections that the line has accepted.
func (e *Engine) Accepted() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.accepted
}

// Streams returns the number of byte streams that are open now.
func (e *Engine) Streams() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.streams
}

// now returns the faults, and a channel that is closed when they change.
func (e *Engine) now() (Faults, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.faults, e.changed
}

// begin registers work that close waits for, until done is called. Until then, close and Disconnect
// close its connection, which may be nil. It returns false when the engine has ended.
func (e *Engine) begin(conn io.Closer) (done func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, false
	}
	e.work.Add(1)
	if conn != nil {
		e.open[conn] = true
	}
	return func() {
		e.mu.Lock()
		delete(e.open, conn)
		e.mu.Unlock()
		e.work.Done()
	}, true
}

// accept accepts clients' connections until the engine ends.
func (e *Engine) accept(l net.Listener) {
	for {
		client, err := accept.Next(e.life, l, func(error, time.Duration) {})
		if err != nil {
			return
		}
		e.mu.Lock()
		e.accepted++
		e.mu.Unlock()
		if f, _ := e.now(); f.Down {
			client.Close()
			continue
		}
		e.work.Go(func() { e.carry(client) })
	}
}
