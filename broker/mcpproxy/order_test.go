package mcpproxy

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
)

// spoken answers the calls of one file, as if a person had just ordered them.
type spoken struct {
	queue *approval.Queue
	about string
	heard []string // the calls it was asked about
}

func (s *spoken) Ordered(e *approval.Escalation) (approval.Resolution, bool) {
	s.heard = append(s.heard, string(e.Arguments))
	if string(e.Arguments) != s.about {
		e.Auto = &approval.AutoReview{Receipt: 7, Reason: "the receipt orders something else"}
		return approval.Resolution{}, false
	}
	_, res, err := s.queue.Settle(*e, approval.Answer{Approve: true, Effect: e.Fingerprint(), By: "auto-approver", Automatic: true})
	return res, err == nil
}

// Before anything waits for a person, a grant is looked for, then what they have
// ordered. What neither covers waits, and says why.
func TestWhoIsAskedFirst(t *testing.T) {
	grants, orders := grant.New(nil), &spoken{}
	r := newHarness(t, func(c *Config) { c.Grants, c.Orders = grants, orders })
	orders.queue = r.queue
	a := r.agent()
	file, other := filepath.Join(r.outside, "notes.txt"), filepath.Join(r.outside, "other.txt")
	orders.about = write(other, "ordered")

	a.send(callLine("1", "filesystem__write_file", write(file, "one")))
	if item := r.pending(1)[0]; item.Auto == nil || item.Auto.Receipt != 7 {
		t.Errorf("it waits without a reason: %+v", item.Auto)
	}
	r.remember(grants, grant.File, time.Minute)
	a.answerTo("1")
	for id, arguments := range map[string]string{"2": write(file, "granted"), "3": orders.about} {
		if m := a.call(id, "filesystem__write_file", arguments); m.isError() {
			t.Error(m.text())
		}
	}
	if len(orders.heard) != 2 || orders.heard[1] != orders.about {
		t.Errorf("orders were looked at for %q", orders.heard)
	}
	decisions := map[audit.Decision]int{}
	for _, d := range r.decisions() {
		decisions[d.Decision]++
	}
	if decisions[audit.EscalatedApproved] != 1 || decisions[audit.Granted] != 1 || decisions[audit.AutoApproved] != 1 {
		t.Errorf("recorded: %v", decisions)
	}
	if waiting := r.queue.Pending(); len(waiting) != 0 {
		t.Errorf("still waiting: %+v", waiting)
	}
}
