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

// Call is an approved call: to push to one remote, or to fetch from it.
type Call struct {
	Remote gitx.Address
	Push   bool
}

// service returns the name of git's program that the remote runs for the call.
func (c Call) service() string {
	if c.Push {
		return "git-receive-pack"
	}
	return "git-upload-pack"
}

const (
	maxConnections = 16 // of a gate at a time; more are closed
	greetLimit     = 10 * time.Second
	maxSocketPath  = 100 // bytes; less than any system's limit
)

// Gate accepts the connections that a sandboxed git makes for one call, until Close. It refuses them
// while Permit does not allow them.
type Gate struct {
	call     Call
	env      map[string]string
	readable []string
	listen   net.Listener
	carry    func(ctx context.Context, conn net.Conn) // forwards a connection; owns conn
	release  func()
	stop     context.CancelFunc
	running  sync.WaitGroup

	life context.Context // ends with the gate

	mu         sync.Mutex
	permission context.Context // ends with the present permission; nil if there is none
	revoke     context.CancelFunc
	refusal    error
}

// Permit sets whether connections are allowed from now on, and ends those of an earlier permission.
// It is needed because the server may be started before a person has approved its call, and may
// continue to run after the call.
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

// errNotPermitted is the refusal of connections while there is no permission.
var errNotPermitted = errors.New("git in the sandbox connected while no call was approved")

// permitted returns the context of the present permission, or nil.
func (g *Gate) permitted() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.permission == nil {
		g.refusal = errNotPermitted
	}
	return g.permission
}

// Socket returns the path of the gate's socket. The sandbox runtime connects to it from outside the
// sandbox (mitmProxy.socketPath), so no sandbox needs to see it.
func (g *Gate) Socket() string { return g.listen.Addr().String() }

// Host returns the only host whose connections come to the gate (mitmProxy.domains).
func (g *Gate) Host() string { return g.call.Remote.Host }

// Allowed returns the only entry of allowedDomains that the sandbox needs.
func (g *Gate) Allowed() string { return authority(g.call.Remote) }

// Readable returns the files in the directory of the call that git in the sandbox reads. The rest of
// the directory is hidden from every sandbox.
func (g *Gate) Readable() []string { return g.readable }

// Exports returns shell code that sets the variables that git needs. settings is the number of
// settings that the environment already has (GIT_CONFIG_COUNT). The code must run inside the
// sandbox, before the server starts, because the sandbox runtime sets some of these variables, and
// others are made from those.
func (g *Gate) Exports(settings int) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.env)) {
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(g.env[name], "'", `'\''`))
	}
	// These settings replace those in configurations: git in the sandbox asks no credential helper,
	// and uses the runtime's proxy, which leads to the gate.
	fmt.Fprintf(&b, "export GIT_CONFIG_KEY_%d=credential.helper GIT_CONFIG_VALUE_%d=\n", settings, settings)
	fmt.Fprintf(&b, "export GIT_CONFIG_KEY_%d='http.%s.proxy' GIT_CONFIG_VALUE_%d=\"$HTTPS_PROXY\"\n",
		settings+1, strings.ReplaceAll(g.call.Remote.String(), "'", `'\''`), settings+1)
	fmt.Fprintf(&b, "export GIT_CONFIG_COUNT=%d\n", settings+2)
	return b.String()
}

// Refusal returns why the remote or the gate last refused something, or nil. It is for the person,
// because git in the sandbox reports less.
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

// Close ends the gate, its connections and its programs, and removes its files.
func (g *Gate) Close() {
	g.stop()
	_ = g.listen.Close() // this removes the socket
	g.running.Wait()
	g.release()
}

// open makes a gate with a socket in a directory that no sandbox may read. It also returns the
// gate's context. Connections wait until serve.
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

// listen listens on a socket to which only this user can connect.
func listen(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fault.New("use a shorter state directory (IRONCURTAIN_HOME)", "%s is too long for the path of a socket", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.Wrap("make the directory of a git call", err, "check that you can write there")
	}
	l, err := net.Listen("unix", path) //nolint:noctx // it does not block
	if err != nil {
		return nil, fault.Wrap("listen for a git call", err, "check that you can write there")
	}
	return l, os.Chmod(path, 0o600)
}

// serve accepts connections until the context that open has returned ends.
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

// receive reads the host that a connection is for, and forwards the connection if the host is the
// approved one.
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
		g.refuse(fmt.Errorf("git in the sandbox asked for %.100q instead of %s", r.Method+" "+r.Host, want))
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

// authority returns host and port of a remote, as a CONNECT request names them.
func authority(remote gitx.Address) string {
	return net.JoinHostPort(remote.Host, strconv.Itoa(remote.Port))
}

// errScheme means that the remote does not use the protocol of the gate.
var errScheme = errors.New("the remote has another protocol")
