package receipt

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// Options configure a store. The zero value is usable.
type Options struct {
	Hold time.Duration    // how long a receipt holds; 0 means DefaultHold
	Now  func() time.Time // with a monotonic reading; nil means time.Now
	// Changed is told of every change: a receipt that came, was spent, or is
	// no more (then with Left 0). It must not block and not call the store.
	Changed func(Receipt)
}

// Store keeps the latest receipt of every session. It is safe for concurrent
// use.
type Store struct {
	options Options

	mu      sync.Mutex
	latest  map[string]*kept
	numbers map[string]int // the last number given out in each session
}

// New makes an empty store.
func New(o Options) *Store {
	if o.Hold <= 0 {
		o.Hold = DefaultHold
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Changed == nil {
		o.Changed = func(Receipt) {}
	}
	return &Store{options: o, latest: map[string]*kept{}, numbers: map[string]int{}}
}

// Add records an input and returns its receipt. It takes the place of the one
// before: only the last thing a person said is their intent. An input without
// any typed span is recorded too and is good for nothing. The head must be read
// before the agent can learn of the text.
func (s *Store) Add(session, text string, spans []Span, head Head, client identity.Client) (Receipt, error) {
	if session == "" || text == "" {
		return Receipt{}, fmt.Errorf("receipt: a session and a text are needed")
	}
	if err := checkSpans(text, spans); err != nil {
		return Receipt{}, fmt.Errorf("receipt: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.options.Now()
	s.numbers[session]++
	k := &kept{Receipt: Receipt{
		Number: s.numbers[session], Session: session, Text: text, Spans: slices.Clone(spans), Head: head, Client: client,
		At: now, ExpiresAt: now.Add(s.options.Hold),
	}}
	k.Uses = uses(k.Typed())
	k.Left = k.Uses
	s.latest[session] = k
	s.options.Changed(k.copy())
	return k.copy(), nil
}

// Current returns the receipt of a session that can still be spent, if there is
// one. Whether it can be spent on a call is for Spend to say.
func (s *Store) Current(session string) (Receipt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.latest[session]
	if k == nil || k.Left <= 0 || k.overdue(s.options.Now()) {
		return Receipt{}, false
	}
	return k.copy(), true
}

// Spend takes one approval from the receipt with this number, for one call of
// the same session, made after it, and for no call twice. Of those who spend the
// last one at once, exactly one succeeds. It returns the receipt as it is after.
// What was spent is never given back, also when the call is not approved then.
func (s *Store) Spend(number int, call Call) (Receipt, error) {
	if err := call.complete(); err != nil {
		return Receipt{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.latest[call.Session]
	if k == nil || k.Number != number {
		return Receipt{}, fmt.Errorf("receipt #%d: %w", number, ErrNone)
	}
	if err := k.check(call, s.options.Now()); err != nil {
		return Receipt{}, fmt.Errorf("receipt #%d: %w", number, err)
	}
	k.Left--
	k.spent = append(k.spent, call.ID)
	s.options.Changed(k.copy())
	return k.copy(), nil
}

// Forget drops the receipt of a session. It reports whether anything was left
// of it.
func (s *Store) Forget(session string) (Receipt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.latest[session]
	if k == nil {
		return Receipt{}, false
	}
	delete(s.latest, session)
	held := k.Left > 0 && !k.overdue(s.options.Now())
	out := k.copy()
	k.Left = 0
	s.options.Changed(k.copy())
	return out, held
}

// ForgetClient drops the receipts of what was typed at a client.
func (s *Store) ForgetClient(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, k := range s.latest {
		if k.Client.ID == id {
			delete(s.latest, session)
			k.Left = 0
			s.options.Changed(k.copy())
		}
	}
}

// Close drops the receipt of a session that has ended. Its numbers go on should
// it be resumed.
func (s *Store) Close(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.latest, session)
}

func (k *kept) copy() Receipt {
	r := k.Receipt
	r.Spans = slices.Clone(r.Spans)
	return r
}
