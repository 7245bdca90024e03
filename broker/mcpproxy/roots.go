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

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// introspection is the tool by which a server tells what it takes for open.
// The answer to roots/list is only the beginning of a change; this shows its end.
const introspection = "list_allowed_directories"

// roots are the directories that one running server is told are open. The
// policy judges every call; roots only keep a server that has a list of its own
// from refusing what was allowed.
type roots struct {
	base  []string      // of the session, all the time
	limit time.Duration // for a change to be taken in

	mu    sync.Mutex
	asked bool          // the server has asked for roots at least once
	extra []string      // for the call that is being made
	told  chan struct{} // closed when the present list was sent; nil when nobody waits
}

// set changes what is open beside the base and returns what is closed when the
// server has been told.
func (r *roots) set(extra []string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.extra, r.told = extra, make(chan struct{})
	return r.told
}

// wanted tells whether the server has ever asked.
func (r *roots) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// answer sends the list as it stands now.
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

// beyond returns the narrowest directories that a server must take for open to
// accept these paths, without those that are open anyway: servers know
// directories only, so for a file it is the one that holds it, and for what
// does not exist the nearest one above that does.
func beyond(paths, base []string) []string {
	var dirs []string
	for _, p := range paths {
		if !filepath.IsAbs(p) || slices.ContainsFunc(base, func(dir string) bool { return within(p, dir) }) {
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

// within tells whether a clean path is a directory or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// pathRoles are the roles of arguments that name a place in the file system.
var pathRoles = []policy.Role{
	policy.ReadPath, policy.WritePath, policy.DeletePath, policy.WriteHistory, policy.DeleteHistory,
}

// namedPaths are the paths among the canonical arguments of a judged call.
func namedPaths(v policy.Verdict) []string {
	var names []string
	for _, step := range v.Trace {
		if slices.Contains(pathRoles, policy.Role(step.Role)) {
			names = append(names, step.Argument)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var arguments map[string]json.RawMessage
	if json.Unmarshal(v.Arguments, &arguments) != nil {
		return nil
	}
	var paths []string
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var one string
		var several []string
		if json.Unmarshal(arguments[name], &one) == nil {
			paths = append(paths, one)
		} else if json.Unmarshal(arguments[name], &several) == nil {
			paths = append(paths, several...)
		}
	}
	return paths
}

// widen opens directories to the server and waits until it has taken them in.
// A server that does not in time gets the call all the same, and refuses it.
func (l *link) widen(ctx context.Context, dirs []string, confirm bool) {
	_ = l.reroot(ctx, dirs, confirm, func(open []string) bool {
		return !slices.ContainsFunc(dirs, func(d string) bool { return !slices.Contains(open, d) })
	})
}

// narrow closes what widen opened. It does not depend on the call, which may
// have been taken back. A server that does not follow is stopped; it is started
// again with the roots of the session.
func (l *link) narrow(dirs []string, confirm bool) {
	err := l.reroot(context.Background(), nil, confirm, func(open []string) bool {
		return !slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(open, d) })
	})
	if err != nil {
		l.process.Stop()
	}
}

// reroot changes the roots, tells the server and waits until it has asked for
// them and, where it can be looked at, until they are in effect.
func (l *link) reroot(ctx context.Context, extra []string, confirm bool, done func(open []string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, l.roots.limit)
	defer cancel()
	told := l.roots.set(extra)
	if err := l.out.Send(jsonrpc.Notification("notifications/roots/list_changed", nil)); err != nil {
		return err
	}
	select {
	case <-told:
	case <-l.process.Done():
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
		open, err := l.openDirectories(ctx)
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

// openDirectories asks the server which directories it takes for open.
func (l *link) openDirectories(ctx context.Context) ([]string, error) {
	raw, err := l.request(ctx, "tools/call", json.RawMessage(`{"name":"`+introspection+`","arguments":{}}`))
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
