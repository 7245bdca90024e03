package mcpproxy

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// told keeps what the proxy says of the calls of programs.
type told struct {
	mu    sync.Mutex
	all   []string
	waits chan struct{} // has room for one
}

func newTold() *told { return &told{waits: make(chan struct{}, 1)} }

func (n *told) call(c builtin.Call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, strings.Join([]string{c.Tool, c.About, string(c.State)}, " "))
	if c.State == builtin.CallWaits {
		n.waits <- struct{}{}
	}
}

func (n *told) is(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.all, want) {
		t.Errorf("told %q, want %q", n.all, want)
	}
}

// The agent of our own is told how each call of its programs stands, and so is no other client.
func TestTheBuiltinAgentSeesItsCalls(t *testing.T) {
	runs := programs(t, true)
	r := newHarness(t, func(c *Config) { runs(c); c.Tickets = true })
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	p := builtin.NewPrograms(conn)
	tool, err := p.Find(t.Context())
	if err != nil || !strings.Contains(tool.Description, "declare namespace filesystem") {
		t.Fatalf("%+v, %v", tool, err)
	}
	ticket := ""
	run := func(ctx context.Context, n *told, code string) (builtin.Result, error) {
		return p.Run(ctx, tool, code, func(t string) { ticket = t }, n.call)
	}

	n := newTold()
	got, err := run(t.Context(), n, `await filesystem.read_text_file({ path: '/workspace/a', head: 3 });
		try { await filesystem.read_text_file({ path: '`+r.dir+`/closed/x' }) } catch (e) { return e.decision }`)
	if err != nil || got.Failed || got.Text != `"deny"` {
		t.Fatalf("%+v, %v", got, err)
	}
	n.is(t, "filesystem/read_text_file /workspace/a head=3 runs", "filesystem/read_text_file /workspace/a head=3 done",
		"filesystem/read_text_file "+r.dir+"/closed/x runs", "filesystem/read_text_file "+r.dir+"/closed/x refused")

	n = newTold()
	outside := r.outside + "/a"
	write := `await filesystem.write_file({ path: '` + outside + `', content: 'x' })`
	ended := make(chan builtin.Result)
	go func() {
		got, _ := run(t.Context(), n, write)
		ended <- got
	}()
	<-n.waits
	r.decide(1, true)
	if got := <-ended; got.Failed {
		t.Errorf("%+v", got)
	}
	line := "filesystem/write_file " + outside + " x "
	n.is(t, line+"runs", line+"waits", line+"runs", line+"done")

	n = newTold()
	ctx, interrupt := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := run(ctx, n, write)
		failed <- err
	}()
	<-n.waits
	interrupt(builtin.ErrInterrupted)
	if err := <-failed; !errors.Is(err, builtin.ErrInterrupted) {
		t.Error(err)
	}
	r.pending(0)
	eventually(t, func() bool {
		return slices.ContainsFunc(r.ofProgram(), func(l audit.Line) bool { return l.Decision == audit.EscalatedWithdrawn })
	}, "the record of the withdrawal")

	if got, err := p.Resume(t.Context(), tool, ticket, write, func(builtin.Call) {}); err != nil || !strings.HasPrefix(got.Text, "INTERRUPTED") {
		t.Errorf("%+v, %v", got, err)
	}
	_ = conn.Close()
	<-p.Lost()
	if _, err := run(t.Context(), n, "return 1"); err == nil {
		t.Error("a program runs without its proxy")
	}
}
