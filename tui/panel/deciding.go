package panel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Decision is the person's answer to an escalation.
type Decision struct {
	Approve  bool
	Key      bool             // made with one key, and not with a command
	Reason   string           // of a refusal; the agent is told
	Remember *broker.Remember // the grant to make with an approval; nil: none
}

// SplitTarget splits a leading number or "all" from the arguments of a command.
func SplitTarget(args string) (which, rest string) {
	word, rest, _ := strings.Cut(args, " ")
	if _, ok := input.Number(word); ok || word == "all" {
		return word, strings.TrimSpace(rest)
	}
	return "", args
}

// ErrNothing is the error of a decision while no call waits.
var ErrNothing = errors.New("nothing waits for a decision")

// Chosen returns the items that a decision is about: the item shown, the item with a number, or all
// items that were seen in full. The error says why the decision cannot be made.
func (a *Queue) Chosen(which string, approve bool, now time.Time, k *input.Keys) ([]*Item, error) {
	if len(a.Items) == 0 {
		return nil, ErrNothing
	}
	it := a.Current()
	switch which {
	case "":
		// The call must be the one that was shown when the person began the command.
		if a.Agreed != it.Call.ID {
			a.Agreed = it.Call.ID
			return nil, fault.New("look at it, then press Enter again", "the call shown changed while you typed, it is #%d now", it.Call.Number)
		}
	case "all":
		return a.allSeen(approve, now, k)
	default:
		n, _ := input.Number(which)
		if it = a.Numbered(n); it == nil {
			return nil, a.unknown(n)
		}
		if it != a.Current() {
			a.choose(it.Call.ID, now)
			return nil, fault.New("look at it, then press Enter again", "#%d was not the call shown", n)
		}
	}
	if err := a.mayDecide(it, approve, now, k); err != nil {
		return nil, err
	}
	return []*Item{it}, nil
}

// allSeen returns the items that the person may decide now, and notes them as one batch.
func (a *Queue) allSeen(approve bool, now time.Time, k *input.Keys) ([]*Item, error) {
	var seen []*Item
	b := &batch{calls: map[string]bool{}}
	if it := a.Current(); approve && it.slipped {
		it.slipped = false
		return nil, fault.New("look at it, then press Enter again", "the call shown changed while you typed, it is #%d now", it.Call.Number)
	}
	for _, it := range a.Items {
		if a.mayDecide(it, approve, now, k) != nil {
			b.left++
			continue
		}
		b.calls[it.Call.ID] = true
		seen = append(seen, it)
	}
	if len(seen) == 0 {
		return nil, fault.New(howToSee(k), "none of the %d waiting calls has been shown in full and for long enough", b.left)
	}
	a.Batch = b
	return seen, nil
}

// mayDecide returns nil, or why a call cannot be decided yet. To refuse a call, it is enough to have
// seen a part of it. The call that is shown must have been on the screen for MinAge until now; any
// other call for MinAge at some time since the panel was opened.
func (a *Queue) mayDecide(it *Item, approve bool, now time.Time, k *input.Keys) error {
	switch {
	case it.Sent:
		return fmt.Errorf("#%d: a decision is already under way", it.Call.Number)
	case !it.looked && it.Since.IsZero() && !slices.Contains(it.seen, true):
		return fault.New(howToSee(k), "#%d has not been on the screen yet", it.Call.Number)
	case approve && !it.Complete:
		more := cmp.Or(k.Hint(input.PlacePanel, input.ActPanelPage, "shows more"), "scroll to see all") + ", or /deny it"
		return fault.New(more, "#%d has %s not shown yet", it.Call.Number, view.Counted(it.unseen(), "row"))
	case !it.seenFor(now), it == a.Current() && (it.Since.IsZero() || now.Sub(it.Since) < MinAge):
		return fault.New("look at it, then press Enter again", "#%d has only just appeared", it.Call.Number)
	}
	return nil
}

// howToSee says which keys show other calls, and more of a call.
func howToSee(k *input.Keys) string {
	how := input.NonEmpty(k.Hint(input.PlacePanel, input.ActPanelNext, "shows the next call"), k.Hint(input.PlacePanel, input.ActPanelPage, "more of it"))
	return cmp.Or(strings.Join(how, ", "), "scroll through them")
}

// unknown is the error that no call with a number waits. It lists the calls that wait.
func (a *Queue) unknown(n int) error {
	if len(a.Items) == 0 {
		return fmt.Errorf("#%d does not wait for a decision, and no other call does", n)
	}
	return fmt.Errorf("no call #%d waits; these wait: %s", n, a.numbers())
}

// numbers lists the numbers of the waiting calls.
func (a *Queue) numbers() string {
	var out []string
	for _, it := range a.Items {
		out = append(out, fmt.Sprintf("#%d", it.Call.Number))
	}
	return strings.Join(out, " ")
}
