package tui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runApprove is /approve.
func (m *Model) runApprove(args string) (tea.Cmd, error) {
	which, rest := splitTarget(args)
	if rest != "" {
		return nil, fmt.Errorf("/approve %s: takes a number, all, or nothing for the call shown", view.Sanitize(args))
	}
	return m.decideOn(which, decision{approve: true})
}

// runDeny is /deny. Its reason is told to the agent.
func (m *Model) runDeny(args string) (tea.Cmd, error) {
	which, reason := splitTarget(args)
	return m.decideOn(which, decision{reason: reason})
}

// decision is what the person makes of a call.
type decision struct {
	approve  bool
	reason   string           // told to the agent when denied
	remember *broker.Remember // with an approval
}

// splitTarget takes a leading number or "all" off the arguments.
func splitTarget(args string) (which, rest string) {
	word, rest, _ := strings.Cut(args, " ")
	if _, ok := input.Number(word); ok || word == "all" {
		return word, strings.TrimSpace(rest)
	}
	return "", args
}

// decideOn decides the call shown, the call with a number, or all calls that
// were seen in full.
func (m *Model) decideOn(which string, d decision) (tea.Cmd, error) {
	if len(m.approvals.items) == 0 {
		return nil, errors.New("nothing waits for a decision")
	}
	if !m.panelFits() {
		return nil, &hinted{errors.New("the terminal is too small to show what would be decided"), "make it larger, or use ironcurtain-mux pending and approve in another terminal"}
	}
	switch which {
	case "":
		return m.decideShown(d)
	case "all":
		return m.decideAll(d)
	}
	n, _ := input.Number(which)
	it := m.approvals.numbered(n)
	if it == nil {
		return nil, m.approvals.unknown(n)
	}
	if it != m.approvals.current() {
		m.approvals.choose(it.call.ID, m.now())
		return nil, &hinted{fmt.Errorf("#%d was not the call shown", n), "look at it, then press Enter again"}
	}
	if err := m.mayDecide(it, d.approve); err != nil {
		return nil, err
	}
	return m.send(it, d), nil
}

// decideShown decides the item in the panel, when it is still the one that was
// there when the command was begun.
func (m *Model) decideShown(d decision) (tea.Cmd, error) {
	it := m.approvals.current()
	if m.approvals.agreed != it.call.ID {
		m.approvals.agreed = it.call.ID
		return nil, &hinted{fmt.Errorf("the call shown changed while you typed, it is #%d now", it.call.Number), "look at it, then press Enter again"}
	}
	if err := m.mayDecide(it, d.approve); err != nil {
		return nil, err
	}
	return m.send(it, d), nil
}

// decideAll decides every item that was looked at since the panel was opened, and
// seen in full.
func (m *Model) decideAll(d decision) (tea.Cmd, error) {
	var cmds []tea.Cmd
	b := &batch{calls: map[string]bool{}}
	for _, it := range m.approvals.items {
		if m.mayDecide(it, d.approve) != nil {
			b.left++
			continue
		}
		b.calls[it.call.ID] = true
		cmds = append(cmds, m.send(it, d))
	}
	if len(cmds) == 0 {
		return nil, &hinted{fmt.Errorf("none of the %d waiting calls has been shown in full and for long enough", b.left), m.howToSee()}
	}
	m.approvals.batch = b
	return tea.Batch(cmds...), nil
}

// mayDecide says why a decision on a call cannot be made yet, or nil. To refuse
// one it is enough to have seen some of it. The call that is shown has to be there for
// long enough now, any other one at a time since the panel was opened.
func (m *Model) mayDecide(it *pendingItem, approve bool) error {
	switch {
	case it.sent:
		return fmt.Errorf("#%d: a decision is already under way", it.call.Number)
	case !it.looked && it.since.IsZero() && !slices.Contains(it.seen, true):
		return &hinted{fmt.Errorf("#%d has not been on the screen yet", it.call.Number), m.howToSee()}
	case approve && !it.complete:
		return &hinted{fmt.Errorf("#%d has %s not shown yet", it.call.Number, view.Counted(it.unseen(), "row")), cmp.Or(m.keys.Hint(input.PlacePanel, input.ActPanelPage, "shows more"), "scroll to see all") + ", or /deny it"}
	case !it.seenFor(m.now()), it == m.approvals.current() && (it.since.IsZero() || m.now().Sub(it.since) < minAge):
		return &hinted{fmt.Errorf("#%d has only just appeared", it.call.Number), "look at it, then press Enter again"}
	}
	return nil
}

// howToSee says how to get at calls, and parts of them, that were not on the
// screen yet.
func (m *Model) howToSee() string {
	how := input.NonEmpty(m.keys.Hint(input.PlacePanel, input.ActPanelNext, "shows the next call"), m.keys.Hint(input.PlacePanel, input.ActPanelPage, "more of it"))
	return cmp.Or(strings.Join(how, ", "), "scroll through them")
}

func (m *Model) send(it *pendingItem, d decision) tea.Cmd {
	it.sent = true
	return m.decide(it.call, d)
}

// unknown says that no call with a number waits, and which do.
func (a *approvals) unknown(n int) error {
	if len(a.items) == 0 {
		return fmt.Errorf("#%d does not wait for a decision: nothing does", n)
	}
	return fmt.Errorf("#%d: no such call waits; waiting: %s", n, a.numbers())
}

// numbers lists the numbers of the waiting calls.
func (a *approvals) numbers() string {
	var out []string
	for _, it := range a.items {
		out = append(out, fmt.Sprintf("#%d", it.call.Number))
	}
	return strings.Join(out, " ")
}

// onDecided takes the answer to a decision.
func (m *Model) onDecided(msg decidedMsg) tea.Cmd {
	if msg.err != nil {
		if it := m.approvals.find(msg.id); it != nil {
			it.sent = false
		}
		m.showError(fmt.Errorf("decide #%d: %w", msg.number, msg.err))
		return nil
	}
	m.resolved(msg.resolution, true)
	return nil
}

// onEscalation notes a call that began to wait. It changes nothing about where
// the person's keys go.
func (m *Model) onEscalation(e broker.Escalation) tea.Cmd {
	if it := m.approvals.find(e.ID); it != nil {
		it.update(e)
		m.dirty = true
		return nil
	}
	m.approvals.add(e)
	m.dirty = true
	t := m.tabOf(e.Session)
	if t != m.current() && t != nil {
		t.fresh = true
	}
	m.announce(t, onEscalated, fmt.Sprintf("approval #%d: %s/%s", e.Number, e.Server, e.Tool))
	return m.tick()
}

// tick makes the seconds that are counted on screen count.
func (m *Model) tick() tea.Cmd {
	if m.ticking || !m.counting() {
		return nil
	}
	m.ticking = true
	return m.after(time.Second, tickMsg{})
}

// counting reports whether anything on screen depends on the time.
func (m *Model) counting() bool {
	if t := m.current(); t != nil && m.receiptLeft(t) != "" {
		return true
	}
	return len(m.freshToasts()) > 0 || len(m.approvals.items) > 0 || m.flash.shown(m.now()) && !m.flash.urgent
}
