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
	Hold time.Duration    // how long a receipt is valid; 0 means DefaultHold
	Now  func() time.Time // with a monotonic reading; nil means time.Now
	// Changed is called with each receipt that was added, spent or forgotten (then with Left 0). It
	// must not block and not call the store.
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

// Add records an input and returns its receipt, which replaces the former one: only the last thing
// that a person said is their intent. An input without a typed span is recorded too, and is good
// for no approval. The head must be read before the agent can learn of the text.
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

// Current returns the receipt of a session that can still be spent, if there is one. Spend decides
// whether it can be spent on a call.
func (s *Store) Current(session string) (Receipt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.latest[session]
	if k == nil || k.Left <= 0 || k.overdue(s.options.Now()) {
		return Receipt{}, false
	}
	return k.copy(), true
}

// Spend uses one approval of the receipt with this number for a call of the same session that was
// made after it, and only once for each call. If several callers spend the last approval at once,
// exactly one succeeds. It returns the receipt as it is afterwards. A spent approval is never given
// back, even if the call is not approved then.
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

// Forget drops the receipt of a session. It reports whether the receipt could still be spent.
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

// Close drops the receipt of a session that has ended. If the session is resumed, its numbers
// continue.
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
