package mcpproxy

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// introspection is the tool by which a server lists the directories that it serves. It shows
// when a change of roots has taken effect, which the server's roots/list does not.
const introspection = "list_allowed_directories"

// roots are the MCP roots of one running server. The policy judges every call; roots only
// prevent a server with a list of its own from refusing an allowed call.
type roots struct {
	base  []string      // of the session, all the time
	limit time.Duration // for the server to apply a change

	mu    sync.Mutex
	asked bool          // the server has asked for roots at least once
	extra []string      // for the call that is being made
	told  chan struct{} // closed when the present list was sent; nil when nobody waits
}

// set changes the roots beside the base. It returns a channel that is closed when the
// server has read them.
func (r *roots) set(extra []string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.extra, r.told = extra, make(chan struct{})
	return r.told
}

// wanted reports whether the server has ever asked for its roots.
func (r *roots) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// answer sends the present list.
func (r *roots) answer(id json.RawMessage, write func([]byte) error) error {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name,omitempty"`
	}
	r.mu.Lock()
	r.asked = true
	told := r.told
	list := []root{}
	for i, dir := range slices.Concat(r.base, r.extra) {
		u := url.URL{Scheme: "file", Path: dir}
		list = append(list, root{URI: u.String(), Name: map[bool]string{true: "sandbox"}[i == 0]})
	}
	r.mu.Unlock()
	result, err := encode(map[string]any{"roots": list})
	if err != nil {
		return err
	}
	if err := write(jsonrpc.Answer(id, result)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if told != nil && r.told == told {
		close(told)
		r.told = nil
	}
	return nil
}

// beyond returns the narrowest directories that must be roots so that a server accepts
// these paths, without those that are open already. Roots are directories, so for a file it
// is the directory of the file, and for a missing path the nearest existing directory above.
func beyond(paths, base []string) []string {
	var dirs []string
	for _, p := range paths {
		if !filepath.IsAbs(p) || slices.ContainsFunc(base, func(dir string) bool { return stage.Within(p, dir) }) {
			continue
		}
		dir := filepath.Clean(p)
		for {
			if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == "/" {
				break
			}
			dir = filepath.Dir(dir)
		}
		if resolved, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(dirs, resolved) {
			dirs = append(dirs, resolved)
		}
	}
	return dirs
}

// widen adds directories to the server's roots and waits until the server uses them. A server that
// is too slow still gets the call, and refuses it.
func (sc *serverConn) widen(ctx context.Context, dirs []string, confirm bool) {
	_ = sc.reroot(ctx, dirs, confirm, func(open []string) bool {
		return !slices.ContainsFunc(dirs, func(d string) bool { return !slices.Contains(open, d) })
	})
}

// narrow removes the roots that widen added. It does not depend on the call, which may have
// been taken back. It stops a server that does not follow; the server is started again with
// the roots of the session.
func (sc *serverConn) narrow(dirs []string, confirm bool) {
	err := sc.reroot(context.Background(), nil, confirm, func(open []string) bool {
		return !slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(open, d) })
	})
	if err != nil {
		sc.peer.Stop()
	}
}

// reroot changes the roots, notifies the server, and waits until the server has asked for
// them and, if the server can show that, until they are in effect.
func (sc *serverConn) reroot(ctx context.Context, extra []string, confirm bool, done func(open []string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, sc.roots.limit)
	defer cancel()
	told := sc.roots.set(extra)
	if err := sc.out.Send(jsonrpc.Notification("notifications/roots/list_changed", nil)); err != nil {
		return err
	}
	select {
	case <-told:
	case <-sc.peer.Done():
		return errServerGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !confirm {
		return nil
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		open, err := sc.openDirectories(ctx)
		if err != nil || done(open) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// openDirectories asks the server which directories it serves.
func (sc *serverConn) openDirectories(ctx context.Context) ([]string, error) {
	raw, err := sc.request(ctx, "tools/call", json.RawMessage(`{"name":"`+introspection+`","arguments":{}}`))
	if err != nil {
		return nil, err
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	var open []string
	for _, block := range r.Content {
		open = append(open, strings.Split(block.Text, "\n")...)
	}
	return open, nil
}
