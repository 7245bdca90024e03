package gitauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Call is what was approved: pushing to one remote, or fetching from it.
type Call struct {
	Remote gitx.Address
	Push   bool
}

// service is the program of git's that the remote runs for the call.
func (c Call) service() string {
	if c.Push {
		return "git-receive-pack"
	}
	return "git-upload-pack"
}

const (
	maxConnections = 16 // of a gate at a time; what is beyond is closed
	greetLimit     = 10 * time.Second
	maxSocketPath  = 100 // less than any system's limit, in bytes
)

// Gate is the end of the connections that a sandboxed git makes for one call. It refuses
// them until Permit, and is in force until Close.
type Gate struct {
	call     Call
	env      map[string]string
	readable []string
	listen   net.Listener
	carry    func(ctx context.Context, conn net.Conn) // owns conn
	release  func()
	stop     context.CancelFunc
	running  sync.WaitGroup

	life context.Context // ends with the gate

	mu         sync.Mutex
	permission context.Context // ends when the present permission does; nil: there is none
	revoke     context.CancelFunc
	refusal    error
}

// Permit sets whether connections are let through from now on, and ends those of an earlier
// permission. The server that will make the call may be started before a person has approved
// the call, and may be kept after it.
func (g *Gate) Permit(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.revoke != nil {
		g.revoke()
	}
	g.permission, g.revoke, g.refusal = nil, nil, nil
	if yes {
		g.permission, g.revoke = context.WithCancel(g.life)
	}
}

// errEarly is the refusal of connections while no call is let through.
var errEarly = errors.New("git in the sandbox connected while no call was approved")

// permitted returns the context of what the present permission lets through, or nil.
func (g *Gate) permitted() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.permission == nil {
		g.refusal = errEarly
	}
	return g.permission
}

// Socket is the path of the gate's socket. The sandbox runtime connects to it from outside
// the sandbox (mitmProxy.socketPath), so no sandbox needs to see it.
func (g *Gate) Socket() string { return g.listen.Addr().String() }

// Host is the one host whose connections come to the gate (mitmProxy.domains).
func (g *Gate) Host() string { return g.call.Remote.Host }

// Allowed is the one entry of allowedDomains that the sandbox needs.
func (g *Gate) Allowed() string { return authority(g.call.Remote) }

// Readable are the files that git in the sandbox reads, below the directory of the call,
// which is otherwise hidden from it as from all others.
func (g *Gate) Readable() []string { return g.readable }

// Exports is shell code that sets what git needs in its environment, which holds a number
// of settings already (GIT_CONFIG_COUNT). It must run inside the sandbox, before the server
// begins, because the sandbox runtime sets some of these variables itself, and others are
// made of what it sets.
func (g *Gate) Exports(settings int) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.env)) {
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(g.env[name], "'", `'\''`))
	}
	// No helper is asked in the sandbox, whatever the configurations say. The runtime's proxy
	// leads to the gate, whatever other proxy they name.
	fmt.Fprintf(&b, "export GIT_CONFIG_KEY_%d=credential.helper GIT_CONFIG_VALUE_%d=\n", settings, settings)
	fmt.Fprintf(&b, "export GIT_CONFIG_KEY_%d='http.%s.proxy' GIT_CONFIG_VALUE_%d=\"$HTTPS_PROXY\"\n",
		settings+1, strings.ReplaceAll(g.call.Remote.String(), "'", `'\''`), settings+1)
	fmt.Fprintf(&b, "export GIT_CONFIG_COUNT=%d\n", settings+2)
	return b.String()
}

// Refusal is why the remote, or the gate, last refused something; nil if neither did. The
// person gets it because git in the sandbox reports less.
func (g *Gate) Refusal() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusal
}

func (g *Gate) refuse(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refusal = err
}

// Close ends the gate, its connections and the programs that it runs, and removes its files.
func (g *Gate) Close() {
	g.stop()
	_ = g.listen.Close() // this removes the socket
	g.running.Wait()
	g.release()
}

// open makes a gate with a socket in a directory that no sandbox may read. It also returns
// the context of all that the gate does. Connections wait until serve.
func open(ctx context.Context, dir string, call Call) (*Gate, context.Context, error) {
	path := filepath.Join(dir, "gate.sock")
	l, err := listen(path)
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	return &Gate{call: call, listen: l, stop: stop, life: ctx, env: map[string]string{
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "",
		"NO_PROXY": "", "no_proxy": "", // connections to hosts in the local network go to the gate, too
	}}, ctx, nil
}

// listen makes a socket that only this user can connect to.
func listen(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fault.New("use a shorter state directory (IRONCURTAIN_HOME)", "%s is too long for the path of a socket", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.Wrap("make the directory of a git call", err, "check that you can write there")
	}
	l, err := net.Listen("unix", path) //nolint:noctx // it waits for nothing
	if err != nil {
		return nil, fault.Wrap("listen for a git call", err, "check that you can write there")
	}
	return l, os.Chmod(path, 0o600)
}

// serve takes connections until the context that open returned ends.
func (g *Gate) serve(ctx context.Context) {
	slots := make(chan struct{}, maxConnections) // a value for each connection; nothing waits
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		unhook := context.AfterFunc(ctx, func() { _ = g.listen.Close() })
		defer unhook()
		for {
			conn, err := accept.Next(ctx, g.listen, func(error, time.Duration) {})
			if err != nil {
				return
			}
			select {
			case slots <- struct{}{}:
			default:
				_ = conn.Close()
				continue
			}
			g.running.Add(1)
			go func() {
				defer g.running.Done()
				defer func() { <-slots }()
				g.receive(conn)
			}()
		}
	}()
}

// receive reads which host a connection is for, and carries it if that is the approved one.
func (g *Gate) receive(conn net.Conn) {
	ctx := g.permitted()
	if ctx == nil {
		_ = conn.Close()
		return
	}
	unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer unhook()
	_ = conn.SetDeadline(time.Now().Add(greetLimit))
	rest := bufio.NewReaderSize(io.LimitReader(conn, 16<<10), 16<<10)
	r, err := http.ReadRequest(rest)
	if err != nil {
		_ = conn.Close()
		return
	}
	if want := authority(g.call.Remote); r.Method != http.MethodConnect || r.Host != want {
		g.refuse(fmt.Errorf("git in the sandbox asked for %.100q and not for %s", r.Method+" "+r.Host, want))
		_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		_ = conn.Close()
		return
	}
	if rest.Buffered() > 0 { // a client speaks only after the answer
		_ = conn.Close()
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	g.carry(ctx, conn)
}

// authority is host and port of a remote, as a CONNECT request has them.
func authority(remote gitx.Address) string {
	return net.JoinHostPort(remote.Host, strconv.Itoa(remote.Port))
}

// errScheme means that a gate was asked for with a remote of another protocol.
var errScheme = errors.New("the remote has another protocol")
