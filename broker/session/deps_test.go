package session

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// testDeps makes what sessions need, without a broker and without a container engine.
func testDeps(t *testing.T, c Config) *Deps {
	t.Helper()
	d := &Deps{
		Config: &c, Log: slog.New(slog.DiscardHandler),
		Approvals: approval.New(approval.Options{Timeout: c.EscalationTimeout}),
		Receipts:  receipt.New(receipt.Options{}), Grants: grant.New(nil),
		Ledger: budget.NewLedger(filepath.Join(c.Home, "used.json")), Tools: &mcpproxy.Known{},
		Events: &recorder{notices: make(chan Notice, 256)}, Context: t.Context(), Hurried: context.Background(),
	}
	t.Cleanup(d.Approvals.Close)
	return d
}

// recorder implements Events and keeps the notices and end notices.
type recorder struct {
	notices chan Notice

	mu      sync.Mutex
	changed int // how often a session was announced
	ends    map[EndTopic][]string
}

func (*recorder) Progressed(Progress)       {}
func (*recorder) Spent(Budget)              {}
func (*recorder) Moved(Moving)              {}
func (*recorder) AutoApproved(AutoApproval) {}
func (r *recorder) Noticed(n Notice)        { r.notices <- n }

func (r *recorder) Changed(stored.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed++
}

// announcements counts how often a session is announced while f runs.
func announcements(s *Session, f func()) int {
	r := eventsOf(s)
	count := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.changed
	}
	before := count()
	f()
	return count() - before
}

func (r *recorder) Left(_ stored.ID, about EndTopic, lines ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[EndTopic][]string{}
	}
	r.ends[about] = lines
}

// endNotices returns the lines of the end notices, in the order of their topics.
func (r *recorder) endNotices() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, about := range slices.Sorted(maps.Keys(r.ends)) {
		all = append(all, r.ends[about]...)
	}
	return all
}

// eventsOf returns the recorder that receives the session's events.
func eventsOf(s *Session) *recorder { return s.deps.Events.(*recorder) }

// changes returns the changes of the queue from now on.
func changes(ctx context.Context, s *Session) <-chan approval.Change {
	_, all := s.deps.Approvals.Subscribe(ctx)
	return all
}
