package mcpproxy

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const fileTools = `[{"name":"read_text_file","description":"Reads","inputSchema":{"type":"object"}},` +
	`{"name":"write_file","description":"Writes","inputSchema":{"type":"object"}},` +
	`{"name":"list_directory","inputSchema":{"type":"object"}},` +
	`{"name":"not_annotated","inputSchema":{"type":"object"}}]`

// harness is a proxy in front of a stub, with everything around it real.
type harness struct {
	t       testing.TB
	dir     string // all of it
	work    string // the agent's sandbox
	outside string // where calls escalate
	stub    string // the stub's record
	logPath string
	log     *recorder
	queue   *approval.Queue
	proxy   *Proxy
	socket  string
}

// recorder is an audit log that can be told to fail.
type recorder struct {
	*audit.Log
	mu   sync.Mutex
	fail error
	full error
}

func (r *recorder) Full() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full
}

func (r *recorder) Append(ctx context.Context, rec audit.Record) error {
	r.mu.Lock()
	err := r.fail
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.Log.Append(ctx, rec)
}

func (r *recorder) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = err
}

func newHarness(t testing.TB, change func(*Config)) *harness {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	r := &harness{
		t: t, dir: dir, work: filepath.Join(dir, "work"), outside: filepath.Join(dir, "outside"),
		stub: filepath.Join(dir, "stub"), logPath: filepath.Join(dir, "audit.jsonl"), socket: filepath.Join(dir, "s"),
		queue: approval.New(approval.Options{}),
	}
	for _, d := range []string{r.work, r.outside, r.stub, filepath.Join(dir, "closed")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	log, err := audit.Open(r.logPath, audit.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	r.log = &recorder{Log: log}
	compiled, annotations := policy.Default()
	engine, err := policy.New(policy.Config{
		Policy: compiled, Annotations: annotations, Sandbox: r.work, Mount: "/workspace", Home: dir,
		Protected: []string{filepath.Join(dir, "closed")},
	})
	if err != nil {
		t.Fatal(err)
	}
	host, err := sandbox.New(t.Context(), sandbox.Options{Dir: r.work, UserHome: dir, Policy: sandbox.Warn})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Session: "s1", Engine: engine, Sandbox: host, Approvals: r.queue, Audit: r.log,
		Servers: []sandbox.Spec{stubSpec(t, "filesystem", r.stub)}, Secrets: []string{"tell-nobody-0123456789"},
		Limits: Limits{Backoff: time.Millisecond, Progress: 20 * time.Millisecond},
	}
	if change != nil {
		change(&c)
	}
	if r.proxy, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.close()
		r.emptied()
		r.queue.Close()
		_ = log.Close()
		_ = host.Close()
		if _, err := audit.Verify(r.logPath); err != nil {
			t.Error(err)
		}
	})
	if err := r.proxy.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := r.proxy.Serve(l); err != nil {
			t.Error(err)
		}
	}()
	return r
}

// close ends the proxy; calls that servers work on get a second.
func (r *harness) close() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		r.t.Error(err)
	}
}

// emptied checks that all room was given back.
func (r *harness) emptied() {
	r.t.Helper()
	room, all := r.proxy.room, int64(r.proxy.limits.Room)
	if !room.requests.TryAcquire(all-room.forOne) || !room.answers.TryAcquire(room.forOne) {
		r.t.Error("requests or answers that have ended still take room")
	}
}

func stubSpec(t testing.TB, name, dir string) sandbox.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Spec{
		Name: name, Argv: []string{self}, Env: childEnv(map[string]string{stubVar: dir, toolsVar: fileTools}),
		Sandbox: servers.Sandbox{Off: true},
	}
}

// forwarded are the parameters of the calls that reached the stub, as bytes.
func (r *harness) forwarded() []string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.stub, "received"))
	if err != nil {
		r.t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(string(data)) {
		if _, params, ok := strings.Cut(line, `"method":"tools/call","params":`); ok {
			calls = append(calls, strings.TrimSuffix(params, "}\n"))
		}
	}
	return calls
}

// decisions are the records of what was decided about calls, oldest first.
func (r *harness) decisions() []audit.Line {
	r.t.Helper()
	return r.records(func(l audit.Line) bool { return l.Outcome == "" })
}

// endings waits for n records of what became of calls.
func (r *harness) endings(n int) []audit.Line {
	r.t.Helper()
	var all []audit.Line
	eventually(r.t, func() bool {
		all = r.records(func(l audit.Line) bool { return l.Outcome != "" })
		return len(all) >= n
	}, "%d calls that ended", n)
	return all
}

func (r *harness) records(keep func(audit.Line) bool) []audit.Line {
	r.t.Helper()
	var all []audit.Line
	err := audit.Read(r.logPath, func(l audit.Line) error {
		if l.Plane == audit.PlaneTool && keep(l) {
			all = append(all, l)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// pending waits until n calls wait for a person.
func (r *harness) pending(n int) []approval.Escalation {
	r.t.Helper()
	var items []approval.Escalation
	eventually(r.t, func() bool { items = r.queue.Pending(); return len(items) == n }, "%d pending calls", n)
	return items
}

func eventually(t testing.TB, ok func() bool, format string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: "+format, args...)
		case <-tick.C:
		}
	}
}
