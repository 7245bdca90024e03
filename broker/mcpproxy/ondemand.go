package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// demand says whether a server has to run. A server whose tools are known runs only while
// calls need it. The backend's mu guards it.
type demand struct {
	stopped  bool          // the server does not run; the next call starts it
	starting chan struct{} // closed when the start has succeeded or failed; nil when there is none
	failure  error         // of the latest start
	calls    int           // that need the server now
	used     time.Time     // when a call last needed the server, or when it was started
}

// acquire makes sure that the server runs, until release.
func (b *backend) acquire(ctx context.Context) error {
	b.mu.Lock()
	b.demand.calls++
	starting := b.ensureStarted()
	b.mu.Unlock()
	if starting == nil {
		return nil
	}
	var err error
	select {
	case <-starting:
		b.mu.Lock()
		err = b.demand.failure
		b.mu.Unlock()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		b.release()
		return fmt.Errorf("server %s could not be started, so nothing was done: %w", b.spec.Name, err)
	}
	return nil
}

// release ends a call's need of the server.
func (b *backend) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.demand.calls--
	b.demand.used = time.Now()
}

// startAhead starts a stopped server without waiting for it.
func (b *backend) startAhead() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ensureStarted()
}

// ensureStarted starts a stopped server. It returns a channel that is closed when the
// start has succeeded or failed, or nil when the server runs. mu is held.
func (b *backend) ensureStarted() <-chan struct{} {
	if !b.demand.stopped {
		return nil
	}
	if b.demand.starting == nil {
		b.demand.starting, b.demand.failure = make(chan struct{}), nil
		b.keeper.Go(b.startOnDemand)
	}
	return b.demand.starting
}

// startOnDemand starts a stopped server and keeps it running.
func (b *backend) startOnDemand() {
	l, err := b.connect(b.ctx)
	if err == nil {
		b.proxy.rebuild() // finds a changed tool before the call is sent
	} else if b.ctx.Err() == nil {
		b.proxy.announce(Activity{Kind: ServerFailed, Server: b.spec.Name, Detail: err.Error()})
	}
	b.mu.Lock()
	starting := b.demand.starting
	b.demand.starting, b.demand.failure = nil, err
	if err == nil {
		b.demand.stopped = false
	}
	b.mu.Unlock()
	close(starting)
	if err == nil {
		b.keep(l)
	}
}

// watch waits for the end of a running server. It returns false when the server is idle
// and has to be stopped.
func (b *backend) watch(sc *serverConn) bool {
	timer := time.NewTimer(b.proxy.limits.Idle)
	defer timer.Stop()
	due := timer.C
	if b.known() == nil {
		due = nil
	}
	for {
		select {
		case <-b.ctx.Done():
			return false
		case <-b.rested:
			return false
		case <-sc.peer.Done():
			return true
		case <-due:
			left := b.stopIfIdle()
			if left <= 0 {
				return false
			}
			timer.Reset(left)
		}
	}
}

// stopIfIdle marks an idle server as stopped and returns 0, or returns after what time to check
// again. A git server that was told a working directory keeps running, because it would forget the
// directory.
func (b *backend) stopIfIdle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	remembers := b.git && b.proxy.workDir.Load() != nil
	if b.demand.calls > 0 || remembers {
		return b.proxy.limits.Idle
	}
	if left := b.proxy.limits.Idle - time.Since(b.demand.used); left > 0 {
		return left
	}
	b.conn, b.up, b.demand.stopped = nil, make(chan struct{}), true
	return 0
}

// Known holds the tools that servers offered at their first start. Proxies that share one
// start a server only when a call needs it, and stop it when no call has for a while. A
// server takes a second or two to start, and a hundred megabytes while it is idle. Each version
// of a server has a list of its own. The zero value is empty; a nil *Known stays empty.
type Known struct {
	dir string // where lists are stored for later processes; empty: nowhere
	log *slog.Logger

	mu    sync.Mutex
	lists map[serverVersion][]tool
}

// serverVersion is one version of a server, as Spec.Version names it.
type serverVersion struct{ server, version string }

// KnownIn returns a Known that also stores its lists in a directory, which no agent may be able to
// write to. A later process then starts no server to learn its tools, unless the server has another
// version now. A stored list only decides what agents are shown: the server is started before a
// call is carried out, and its definitions are compared then.
func KnownIn(dir string, log *slog.Logger) *Known { return &Known{dir: dir, log: log} }

// of returns the tools of a server, or nil when they are not known.
func (k *Known) of(s sandbox.Spec) []tool {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := serverVersion{s.Name, s.Version}
	if k.lists[p] == nil {
		k.note(p, k.load(p))
	}
	return k.lists[p]
}

// learn notes the tools of a server that has just been started. It keeps the first list in memory,
// so that every session takes a later difference for a changed definition. A list that differs from
// it removes the first one from the disk, so that a later process asks the server.
func (k *Known) learn(s sandbox.Spec, tools []tool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := serverVersion{s.Name, s.Version}
	var err error
	if first := k.lists[p]; first == nil {
		k.note(p, tools)
		err = k.save(p, tools)
	} else if !slices.EqualFunc(first, tools, tool.same) {
		err = k.drop(p)
	}
	if err != nil {
		k.log.Warn("could not store the tools of a server", "server", s.Name, "error", err)
	}
}

// note notes the first list of a server. mu is held.
func (k *Known) note(p serverVersion, tools []tool) {
	if k.lists == nil {
		k.lists = make(map[serverVersion][]tool)
	}
	k.lists[p] = tools
}

// file returns the path of a server's list, or "" if the list is not stored. Each server has one
// file, with the tools of the version that was learned last.
func (k *Known) file(p serverVersion) string {
	if k.dir == "" || p.version == "" {
		return ""
	}
	return filepath.Join(k.dir, p.server+".json")
}

// load returns the list that an earlier process has stored, or nil. It ignores a damaged list, with
// a warning.
func (k *Known) load(p serverVersion) []tool {
	path := k.file(p)
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxList+1))
		_ = f.Close() // it was only read
	}
	var l list
	if err == nil {
		l, err = decodeList(data)
	}
	if err != nil {
		k.log.Warn("cannot read the stored tools of a server, so the server is asked again", "file", path, "error", err)
		return nil
	}
	if l.Version != p.version {
		return nil
	}
	return l.tools(p.server)
}

// save stores a list, unless it is too large or would not be read back as it is, such as text that
// is not valid UTF-8.
func (k *Known) save(p serverVersion, tools []tool) error {
	path := k.file(p)
	if path == "" {
		return nil
	}
	data, err := json.Marshal(listOf(p.version, tools))
	if err != nil {
		return err
	}
	if l, err := decodeList(data); err != nil || !slices.EqualFunc(tools, l.tools(p.server), tool.same) {
		return k.drop(p)
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	return wholefile.Write(path, data, 0o600)
}

// drop removes the list of a server.
func (k *Known) drop(p serverVersion) error {
	path := k.file(p)
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// maxList is how large a stored list may be, in bytes.
const maxList = 2 << 20

// list is a stored list.
type list struct {
	Version string       `json:"version"`
	Tools   []listedTool `json:"tools"`
}

// listedTool is a tool of a stored list. JSON is stored as a string, because the fingerprint counts
// each byte.
type listedTool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	InputSchema string `json:"inputSchema"`
	Annotations string `json:"annotations"`
	Output      string `json:"outputSchema"`
}

func listOf(version string, tools []tool) list {
	l := list{Version: version}
	for _, t := range tools {
		l.Tools = append(l.Tools, listedTool{t.Name, t.Title, t.Description, string(t.InputSchema), string(t.Annotations), string(t.Output)})
	}
	return l
}

// tools returns the tools as the server defined them.
func (l list) tools(server string) []tool {
	raw := func(text string) json.RawMessage {
		if text == "" {
			return nil
		}
		return json.RawMessage(text)
	}
	var all []tool
	for _, t := range l.Tools {
		all = append(all, tool{server, t.Name, t.Title, t.Description, raw(t.InputSchema), raw(t.Annotations), raw(t.Output)})
	}
	return all
}

// decodeList reads a stored list. It returns an error for a list that no server can have sent.
func decodeList(data []byte) (list, error) {
	var l list
	if _, err := jsonx.Parse(data, jsonx.Limits{Bytes: maxList, Depth: 3}); err != nil {
		return l, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, err
	}
	for _, t := range l.Tools {
		for _, text := range []string{t.InputSchema, t.Annotations, t.Output} {
			if text != "" && !json.Valid([]byte(text)) {
				return l, fmt.Errorf("a schema of %.64q is not JSON", t.Name)
			}
		}
	}
	return l, nil
}
