package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// copied is a workspace of which the agent has another copy. It counts, and does what a test
// wants; both functions may be nil.
type copied struct {
	mu                sync.Mutex
	fetched, returned int
	fetch             func(ctx context.Context, n int) error
	give              func(ctx context.Context, n int) (string, error)
}

func (w *copied) Fetch(ctx context.Context) error {
	w.mu.Lock()
	w.fetched++
	f, n := w.fetch, w.fetched
	w.mu.Unlock()
	if f == nil {
		return nil
	}
	return f(ctx, n)
}

func (w *copied) Return(ctx context.Context) (string, error) {
	w.mu.Lock()
	w.returned++
	f, n := w.give, w.returned
	w.mu.Unlock()
	if f == nil {
		return "", nil
	}
	return f(ctx, n)
}

// set changes what the workspace does from now on.
func (w *copied) set(fetch func(ctx context.Context, n int) error, give func(ctx context.Context, n int) (string, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fetch, w.give = fetch, give
}

func (w *copied) crossed(t *testing.T, fetched, returned int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fetched != fetched || w.returned != returned {
		t.Errorf("fetched %d times and returned %d times, want %d and %d", w.fetched, w.returned, fetched, returned)
	}
}

// withCopies is a harness whose agent has another copy of the workspace.
func withCopies(t *testing.T, more ...func(*Config)) (*harness, *copied) {
	t.Helper()
	w := &copied{}
	return newHarness(t, func(c *Config) {
		c.Workspace = w
		for _, change := range more {
			change(c)
		}
	}), w
}

// blocks are the texts of a result.
func (m received) blocks() []string {
	var r struct{ Content []struct{ Text string } }
	_ = json.Unmarshal(m.Result, &r)
	var all []string
	for _, b := range r.Content {
		all = append(all, b.Text)
	}
	return all
}

func TestWhoSeesTheWorkspace(t *testing.T) {
	judged := servers.Sandbox{Network: servers.Network{Judged: true}}
	for name, c := range map[string]struct {
		server sandbox.Spec
		sees   bool
	}{
		"files":                       {sandbox.Spec{Roots: []string{"/w"}}, true},
		"git":                         {sandbox.Spec{}, true},
		"pages":                       {sandbox.Spec{Sandbox: judged}, false},
		"own":                         {sandbox.Spec{Own: true}, true},
		"own that asks for pages":     {sandbox.Spec{Own: true, Sandbox: judged}, true},
		"own without a sandbox":       {sandbox.Spec{Own: true, Sandbox: servers.Sandbox{Off: true}}, true},
		"own, reached over a network": {sandbox.Spec{Own: true, Remote: &servers.Remote{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := seesWorkspace(c.server); got != c.sees {
				t.Errorf("sees it: %v", got)
			}
		})
	}
}

// Files are fetched before a call is judged, and returned when its server has had it, whatever
// came of it there. Nothing is returned for a call that was not sent, and nothing crosses for what
// cannot see the workspace.
func TestWhichCallsCross(t *testing.T) {
	for name, c := range map[string]struct {
		tool, path        string
		fetched, returned int
		failed            bool
	}{
		"answered":         {"filesystem__read_text_file", "/workspace/a", 1, 1, false},
		"the tool fails":   {"filesystem__read_text_file", "/workspace/blocked", 1, 1, true},
		"refused there":    {"filesystem__read_text_file", "/workspace/refuse", 1, 1, true},
		"the server dies":  {"filesystem__read_text_file", "/workspace/crash", 1, 1, true},
		"unreadable":       {"filesystem__read_text_file", "/workspace/garbage", 1, 1, true},
		"denied":           {"filesystem__read_text_file", "/proc/self/environ", 1, 0, true},
		"no such tool":     {"filesystem__no_such", "/workspace/a", 1, 0, true},
		"no such server":   {"none__read_text_file", "/workspace/a", 0, 0, true},
		"our own":          {"proxy__ours", "/workspace/a", 0, 0, true},
		"over the network": {"own__read_text_file", "/workspace/a", 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := withCopies(t, func(c *Config) {
				own := stubSpec(t, "own", filepath.Join(filepath.Dir(c.Servers[0].Env[stubVar]), "closed"))
				own.Sandbox = servers.Sandbox{Network: servers.Network{Judged: true}}
				c.Servers = append(c.Servers, own)
				c.Builtins = []Builtin{{Server: "proxy", Name: "ours", InputSchema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (any, error) { return "x", nil }}}
			})
			if m := r.agent().call("1", c.tool, fmt.Sprintf(`{"path":%q}`, c.path)); m.isError() != c.failed {
				t.Errorf("answer %s", m.Result)
			}
			w.crossed(t, c.fetched, c.returned)
		})
	}
}

// A call is judged by what the agent has in its workspace by then.
func TestFetchedBeforeJudged(t *testing.T) {
	r, w := withCopies(t)
	w.set(func(context.Context, int) error { return os.Symlink(r.outside, filepath.Join(r.work, "link")) }, nil)
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", write("/workspace/link/x", "text")))
	if item := r.pending(1)[0]; !strings.Contains(string(item.Arguments), filepath.Join(r.outside, "x")) {
		t.Errorf("judged %s", item.Arguments)
	}
	r.decide(1, false)
	a.answerTo("1")
}

// The agent has the answer only after what the call changed has arrived.
func TestReturnedBeforeAnswered(t *testing.T) {
	r, w := withCopies(t)
	begun, arrived := make(chan struct{}), make(chan struct{})
	w.set(nil, func(context.Context, int) (string, error) {
		close(begun)
		<-arrived
		return "", nil
	})
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", write("/workspace/x", "text")))
	<-begun
	a.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if m := a.receive(); string(m.ID) != "2" {
		t.Errorf("first came %s", m.ID)
	}
	close(arrived)
	if m := a.answerTo("1"); m.isError() || len(m.blocks()) != 1 {
		t.Errorf("answer %s", m.Result)
	}
}

// Without the agent's files nothing is judged, and nothing happens.
func TestFilesThatCannotBeFetched(t *testing.T) {
	r, w := withCopies(t)
	w.set(func(_ context.Context, n int) error {
		if n == 1 {
			return errors.New("the engine's disk is full, tell-nobody-0123456789")
		}
		return nil
	}, nil)
	a := r.agent()
	m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`)
	if !m.isError() || !strings.Contains(m.text(), ruleFiles) || !strings.Contains(m.text(), "disk is full") ||
		!strings.Contains(m.text(), "Nothing was done. Try again") || strings.Contains(m.text(), "0123456789") {
		t.Errorf("answer %s", m.Result)
	}
	if len(r.forwarded()) != 0 {
		t.Error("it was forwarded")
	}
	if d := r.decisions()[0]; d.Decision != audit.Deny || d.Rule != ruleFiles || d.Tool != "read_text_file" || d.Detail["requested"] == nil {
		t.Errorf("record %+v", d)
	}
	w.crossed(t, 1, 0)
	if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Errorf("again: %s", m.Result)
	}
}

// Also after an approval.
func TestFilesThatCannotBeFetchedAnyMore(t *testing.T) {
	r, w := withCopies(t)
	a := r.agent()
	a.send(r.outsideCall("1"))
	r.pending(1)
	w.set(func(context.Context, int) error { return errors.New("the line is cut") }, nil)
	_, changes := r.queue.Subscribe(t.Context())
	r.decide(1, true)
	if m := a.answerTo("1"); !m.isError() || !strings.Contains(m.text(), "it was approved, but by now") || !strings.Contains(m.text(), "the line is cut") {
		t.Errorf("answer %s", m.Result)
	}
	if e := r.ended(changes); e.State != approval.EndRefused || !strings.Contains(e.Reason, "the line is cut") {
		t.Errorf("the person is told %+v", e)
	}
	if len(r.forwarded()) != 0 {
		t.Error("it was forwarded")
	}
}

// What the agent is told of the way back is behind the result.
func TestNotesOfTheWayBack(t *testing.T) {
	r, w := withCopies(t)
	a := r.agent()
	w.set(nil, func(context.Context, int) (string, error) {
		return "a.txt was changed on both sides; tell-nobody-0123456789 in " + r.work + "/a", nil
	})
	m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/parts"}`)
	if got := m.blocks(); m.isError() || len(got) != 6 || got[4] != "c" || !strings.HasPrefix(got[5], "a.txt was changed on both sides") ||
		!strings.HasSuffix(got[5], " in /workspace/a") || strings.Contains(got[5], "0123456789") {
		t.Errorf("answer %s", m.Result)
	}
	for id, c := range map[string]struct{ path, before string }{
		"2": {"/workspace/structured", "done"}, "3": {"/workspace/onlystructured", `{"answer":42}`},
	} {
		t.Run(c.path, func(t *testing.T) {
			m := a.call(id, "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, c.path))
			if got := m.blocks(); len(got) != 2 || got[0] != c.before || strings.Contains(string(m.Result), "structuredContent") {
				t.Errorf("answer %s", m.Result)
			}
		})
	}
	for n, c := range []struct{ path, says string }{
		{"/workspace/a", "filesystem/read_text_file was carried out, but its result has not arrived in /workspace: the disk there is full"},
		{"/workspace/refuse", "What filesystem/read_text_file may have changed has not arrived in /workspace: the disk there is full"},
	} {
		t.Run(c.path, func(t *testing.T) {
			w.set(nil, func(context.Context, int) (string, error) { return "", errors.New("the disk there is full") })
			m := a.call(fmt.Sprint(10+n), "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, c.path))
			if got := m.blocks(); len(got) != 2 || !strings.HasPrefix(got[1], c.says) || !strings.Contains(got[1], "Do not repeat") {
				t.Errorf("answer %s", m.Result)
			}
			ends := r.endings(4 + n)
			if d := ends[len(ends)-1]; d.Detail["notArrived"] != "the disk there is full" {
				t.Errorf("record %+v", d)
			}
		})
	}
}

// A person who decided about a call learns that what it did has not arrived.
func TestThePersonLearnsWhatDidNotArrive(t *testing.T) {
	r, w := withCopies(t)
	w.set(nil, func(context.Context, int) (string, error) { return "", errors.New("the disk there is full") })
	a := r.agent()
	a.send(r.outsideCall("1"))
	r.pending(1)
	_, changes := r.queue.Subscribe(t.Context())
	r.decide(1, true)
	a.answerTo("1")
	if e := r.ended(changes); e.State != approval.EndFailed || !strings.Contains(e.Reason, "has not arrived in the agent's workspace: the disk there is full") {
		t.Errorf("the person is told %+v", e)
	}
}
