package broker

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
)

// testDeps are what sessions need, without a broker and without a container engine.
func testDeps(t *testing.T, c Config) *deps {
	t.Helper()
	d := &deps{
		config: &c, log: slog.New(slog.DiscardHandler),
		approvals: approval.New(approval.Options{Timeout: c.EscalationTimeout}),
		receipts:  receipt.New(receipt.Options{}), grants: grant.New(nil),
		ledger: budget.NewLedger(filepath.Join(c.Home, "used.json")), tools: &mcpproxy.Known{},
		events: &recorder{notices: make(chan Notice, 256)}, ctx: t.Context(), hurried: new(atomic.Bool),
	}
	t.Cleanup(d.approvals.Close)
	return d
}

// recorder keeps what sessions tell.
type recorder struct {
	notices chan Notice

	mu   sync.Mutex
	ends map[endTopic][]string
}

func (*recorder) Changed(Session)           {}
func (*recorder) Progressed(Progress)       {}
func (*recorder) Spent(Budget)              {}
func (*recorder) AutoApproved(AutoApproval) {}
func (r *recorder) Noticed(n Notice)        { r.notices <- n }

func (r *recorder) Left(_ SessionID, about endTopic, lines ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[endTopic][]string{}
	}
	r.ends[about] = lines
}

// endNotices are the lines of what sessions have left, in the order of their topics.
func (r *recorder) endNotices() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, about := range slices.Sorted(maps.Keys(r.ends)) {
		all = append(all, r.ends[about]...)
	}
	return all
}

// heard is what the session's broker is told.
func heard(s *session) *recorder { return s.deps.events.(*recorder) }

// changes are what becomes of calls that wait, from now on.
func changes(ctx context.Context, s *session) <-chan approval.Change {
	_, all := s.deps.approvals.Subscribe(ctx)
	return all
}
