package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// protocolVersion is the version of MCP that we speak with servers. It is fixed, because
// the client would otherwise first try a newer handshake, which older servers never answer.
const protocolVersion = "2025-11-25"

// backend is one MCP server over all its restarts.
type backend struct {
	proxy *Proxy
	spec  sandbox.Spec
	git   bool     // it works in the directory that an earlier call has set
	open  []string // its roots: real paths
	// A call that needs more directories takes all slots, so that no other call can use
	// these directories.
	slots  slots
	atOnce int64   // how many slots there are
	late   error   // the error of a call that takes too long
	stages *stages // nil: the server can carry out calls in the running process only

	mu     sync.Mutex
	conn   *serverConn   // nil while the server is down
	up     chan struct{} // closed while there is a connection
	tools  []tool
	demand demand
	off    bool          // a person has turned the server off: no tool of it is offered
	stale  chan struct{} // holds one value when the tools have to be listed again
	rested chan struct{} // capacity 1: the server was told to end until a call needs it

	ctx    context.Context // ends with the backend
	cancel context.CancelFunc
	keeper sync.WaitGroup
}

// gitAtOnce is how many calls the git server works on at a time. It starts a process for
// each call, and the contents of the repository decide how much memory that process uses.
const gitAtOnce = 1

func newBackend(p *Proxy, s sandbox.Spec) *backend {
	b := &backend{proxy: p, spec: s, up: make(chan struct{}), stale: make(chan struct{}, 1), rested: make(chan struct{}, 1), git: policy.DefaultTraits()[s.Name].Git}
	if b.atOnce = int64(p.limits.PerServer); b.git {
		b.atOnce = min(b.atOnce, gitAtOnce)
	}
	b.slots.free = semaphore.NewWeighted(b.atOnce)
	b.late = &errLate{fmt.Sprintf("server %s did not answer within %v", s.Name, p.limits.Call)}
	b.open = realPaths(s.Roots)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if s.Staging != nil && p.config.StageDir != "" && p.config.Sandbox.Views() == nil {
		b.stages = newStages(b)
	}
	return b
}

// realPaths returns the directories without links in their paths, except those that do not
// exist.
func realPaths(dirs []string) []string {
	var paths []string
	for _, dir := range dirs {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			paths = append(paths, resolved)
		}
	}
	return paths
}

// start starts the server for the first time, and the goroutine that keeps it running. A server
// whose tools are known is started only when a call needs it. start does not wait for a server of
// the person's own and does not fail with it: its tools are offered once it runs.
func (b *backend) start(ctx context.Context) error {
	if b.spec.Own {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.demand.stopped = true
		b.ensureStarted()
		return nil
	}
	if tools := b.known().of(b.spec); tools != nil {
		b.mu.Lock()
		b.tools, b.demand.stopped = tools, true
		b.mu.Unlock()
		return nil
	}
	sc, err := b.connect(ctx)
	if err != nil {
		return err
	}
	b.keeper.Go(func() { b.keep(sc) })
	return nil
}

// known returns where the server's tools are shared with other proxies. It returns nil for a server
// of the person's own, which runs all the time because it may remember things between calls.
func (b *backend) known() *Known {
	if b.spec.Own {
		return nil
	}
	return b.proxy.config.Known
}

// connect starts the server, does the MCP handshake and lists the tools.
func (b *backend) connect(ctx context.Context) (*serverConn, error) {
	ctx, cancel := context.WithTimeout(ctx, b.proxy.limits.Start)
	defer cancel()
	spec, err := b.withCredentials(ctx)
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", b.spec.Name, err)
	}
	p, err := b.startPeer(ctx, spec)
	if err != nil {
		return nil, err
	}
	sc := newServerConn(p, b.proxy.limits, b.proxy.room, b.open)
	tools, err := b.greet(ctx, sc)
	if err == nil {
		err = b.record(ctx, p, b.began())
	}
	if err != nil {
		if b.spec.Remote != nil && p.Err() != nil {
			err = p.Err() // the connection knows best why it ended
			_ = sc.Close()
			return nil, err
		}
		_ = sc.Close() // after that, the last words are complete
		return nil, fmt.Errorf("start server %s: %w%s", b.spec.Name, err, b.lastWords(p))
	}
	b.mu.Lock()
	b.conn, b.tools = sc, tools
	close(b.up)
	b.demand.used = time.Now()
	b.mu.Unlock()
	b.known().learn(b.spec, tools)
	b.proxy.announce(Activity{Kind: ServerUp, Server: b.spec.Name})
	return sc, nil
}

// withCredentials returns the server's spec with its credentials in the environment, and keeps
// these from the agent from now on.
func (b *backend) withCredentials(ctx context.Context) (sandbox.Spec, error) {
	spec := b.spec
	if spec.Credentials == nil {
		return spec, nil
	}
	found, err := spec.Credentials(ctx)
	if err != nil {
		return spec, err
	}
	b.proxy.hide(slices.Collect(maps.Values(found)))
	spec.Env = maps.Clone(spec.Env)
	if spec.Env == nil {
		spec.Env = map[string]string{}
	}
	maps.Copy(spec.Env, found)
	return spec, nil
}

// greet does the MCP handshake with a server that has just started.
func (b *backend) greet(ctx context.Context, sc *serverConn) ([]tool, error) {
	c := client.NewClient(sc, client.WithProtocolVersion(protocolVersion))
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationToolsListChanged {
			b.toolsChanged()
		}
	})
	var hello mcp.InitializeRequest
	hello.Params.ClientInfo = mcp.Implementation{Name: "ironcurtain-mux", Version: "1"}
	if len(b.open) > 0 {
		hello.Params.Capabilities.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{ListChanged: true}
	}
	if b.spec.Sandbox.Network.Judged {
		hello.Params.Capabilities.Experimental = map[string]any{fetch.WebMethod: struct{}{}}
	}
	if _, err := c.Initialize(ctx, hello); err != nil {
		var wrapped *transport.Error // its own text only says "transport error"
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", b.proxy.limits.Start)
		}
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return b.list(ctx, sc)
}

// list asks for all tools, page by page.
func (b *backend) list(ctx context.Context, sc *serverConn) ([]tool, error) {
	var all []tool
	cursor := ""
	for {
		params := json.RawMessage("{}")
		if cursor != "" {
			quoted, err := encode(map[string]string{"cursor": cursor})
			if err != nil {
				return nil, err
			}
			params = quoted
		}
		raw, err := sc.request(ctx, "tools/list", params)
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		var page struct {
			Tools      []tool `json:"tools"`
			NextCursor string `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		for i := range page.Tools {
			page.Tools[i].server = b.spec.Name
		}
		all = append(all, page.Tools...)
		if len(all) > b.proxy.limits.Tools {
			return nil, fmt.Errorf("list tools: more than %d", b.proxy.limits.Tools)
		}
		if page.NextCursor == "" || page.NextCursor == cursor {
			return all, nil
		}
		cursor = page.NextCursor
	}
}

// record writes a record of the server's start.
func (b *backend) record(ctx context.Context, p peer, what string) error {
	probes := map[string]any{}
	if process, ok := p.(*sandbox.Process); ok {
		for _, probe := range process.Probes() {
			probes[probe.Name] = map[bool]string{true: "blocked", false: "got through"}[probe.Blocked]
		}
	}
	return b.proxy.config.Audit.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: b.proxy.config.Session, Server: b.spec.Name,
		Reason: what, Sandboxed: p.Sandboxed(), Detail: map[string]any{"probes": probes},
	})
}

func (b *backend) close() {
	b.mu.Lock()
	b.demand.stopped = false // no call starts it any more
	b.mu.Unlock()
	b.cancel()
	if b.stages != nil {
		b.stages.close()
	}
	b.keeper.Wait()
	b.mu.Lock()
	sc := b.conn
	b.conn = nil
	b.mu.Unlock()
	if sc != nil {
		_ = sc.Close()
	}
}

// lastWords returns the end of the server's standard error, to be appended to a message.
func (b *backend) lastWords(p peer) string {
	if words := p.LastWords(); words != "" {
		return fmt.Sprintf(": %.300s", b.proxy.redact.Load().Text(words))
	}
	return ""
}
