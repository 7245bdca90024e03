package receipt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// DefaultHold is how long a receipt is valid by default.
const DefaultHold = 120 * time.Second

// maxUses bounds the approvals that one receipt can be good for, even if it says "all": nobody
// means more within its time.
const maxUses = 100

// Span is a part of a text that was typed or pasted as a whole, in bytes.
type Span struct {
	Start, End int
	Pasted     bool
}

// Receipt is one trusted input and what is left of it.
type Receipt struct {
	Number    int // from 1 in its session, growing, never used twice
	Session   string
	Text      string
	Spans     []Span // cover the text, in order
	At        time.Time
	ExpiresAt time.Time
	Uses      int // approvals it was good for in the beginning
	Left      int // approvals it is still good for
	Head      Head
	Client    identity.Client // in whose terminal it was typed
}

// Head is what the workspace had checked out when the text was typed. An order that names
// no branch means this one. It is empty when it could not be read.
type Head struct {
	Branch   string
	Upstream string // what the repository's settings say the branch follows
}

// Typed returns the spans that were typed, in order. Each must be read by itself, because
// the words before and after a paste were not written as one text.
func (r Receipt) Typed() []string {
	var out []string
	for _, s := range r.Spans {
		if !s.Pasted {
			out = append(out, r.Text[s.Start:s.End])
		}
	}
	return out
}

// Quote is the typed text on one line for records and toasts, with "[…]" where
// something was pasted.
func (r Receipt) Quote() string {
	var b strings.Builder
	for _, s := range r.Spans {
		if s.Pasted {
			b.WriteString("[…]")
		} else {
			b.WriteString(r.Text[s.Start:s.End])
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Call is the escalation that a receipt is to be spent on.
type Call struct {
	ID      string // of the escalation; never empty
	Session string
	Digest  string // of what was judged; never empty
	AskedAt time.Time
}

// Why a receipt cannot be spent.
var (
	// ErrNone means that the session has no receipt with this number now: it was replaced,
	// forgotten or never there.
	ErrNone = errors.New("there is no such receipt")
	// ErrExpired means that its time is over.
	ErrExpired = errors.New("the receipt has expired")
	// ErrSpent means that it was good for no further approval.
	ErrSpent = errors.New("the receipt is spent")
	// ErrEarlier means that the call had been made before the text was typed.
	ErrEarlier = errors.New("the call was made before the receipt")
	// ErrAgain means that it was spent on this very call already.
	ErrAgain = errors.New("the receipt was spent on this call already")
)

// checkSpans returns an error unless the spans cover the text exactly and in order, so that
// the origin of every byte is known.
func checkSpans(text string, spans []Span) error {
	at := 0
	for _, s := range spans {
		if s.Start != at || s.End <= s.Start || s.End > len(text) {
			return errors.New("the spans do not cover the text in order")
		}
		at = s.End
	}
	if at != len(text) {
		return errors.New("the spans do not cover the whole text")
	}
	return nil
}

// check returns why a receipt cannot be spent on a call now, or nil.
func (k *kept) check(call Call, now time.Time) error {
	switch {
	case k.overdue(now):
		return ErrExpired
	case slices.Contains(k.spent, call.ID):
		return ErrAgain
	case k.Left <= 0:
		return ErrSpent
	case call.AskedAt.Before(k.At):
		return ErrEarlier
	}
	return nil
}

// kept is a receipt in the store.
type kept struct {
	Receipt
	spent []string // escalations it was spent on
}

// overdue reports whether the receipt has expired by either clock. The monotonic clock
// stops while the machine sleeps, and the other one can be set. A clock that was set back
// also ends a receipt.
func (k *kept) overdue(now time.Time) bool {
	hold := k.ExpiresAt.Sub(k.At)
	elapsed, wall := now.Sub(k.At), now.Round(0).Sub(k.At.Round(0))
	return elapsed < 0 || wall < -time.Second || elapsed >= hold || wall >= hold
}

func (c Call) complete() error {
	if c.ID == "" || c.Digest == "" || c.Session == "" || c.AskedAt.IsZero() {
		return fmt.Errorf("spend a receipt: the call is not complete")
	}
	return nil
}
