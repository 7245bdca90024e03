package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// warnAt is the used part of a limit at which the person is warned.
const warnAt = 0.8

// Warning is something about an account that the person should know.
type Warning struct {
	Kind WarningKind
	Text string
}

// WarningKind is a kind of warning.
type WarningKind string

// The kinds of warnings.
const (
	Nearly   WarningKind = "nearly"   // most of a limit is used
	Spent    WarningKind = "spent"    // a limit is used up
	Unstored WarningKind = "unstored" // the counts could not be stored
)

// Options are what an account needs.
type Options struct {
	Path   string  // of the session's file
	Limits Limits  // as configured; what a person added is in the file
	Prices Prices  // by which tokens become money
	Ledger *Ledger // of all sessions; may be nil
	// Warn is called once for each limit when most of it is used and when it is used up,
	// and when the counts could not be stored. It may be nil.
	Warn func(Warning)
	// Changed is called when counts or limits have changed. It may be nil.
	Changed func()
	Now     func() time.Time // nil is time.Now
}

// Account counts for one session. It is safe for concurrent use.
type Account struct {
	o      Options
	opened time.Time

	mu     sync.Mutex
	used   Used // without the time since opened
	raised Limits
	warned map[Kind]float64 // the part of a limit that was last warned of: 0.8 or 1
	held   holds            // for requests under way
	closed bool             // no more time is added to used

	dirty  chan struct{} // holds one: the counts must be stored
	stop   chan struct{}
	stored chan struct{} // closed when storing has ended
	once   sync.Once
}

// record is the file of a session.
type record struct {
	Used   Used   `json:"used"`
	Raised Limits `json:"raised"`
}

// Open continues a session's account from its file. A file that cannot be read is an error,
// because counting from zero would forget what was spent.
func Open(o Options) (*Account, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	var r record
	data, err := os.ReadFile(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("open the budget: %w", err)
	default:
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("open the budget: %s: %w", o.Path, err)
		}
	}
	a := &Account{
		o: o, opened: o.Now(), used: r.Used, raised: r.Raised, warned: make(map[Kind]float64), held: make(holds),
		dirty: make(chan struct{}, 1), stop: make(chan struct{}), stored: make(chan struct{}),
	}
	go a.run(a.used)
	return a, nil
}

// SpentError means that a limit is used up.
type SpentError struct{ text string }

func (e *SpentError) Error() string { return e.text }

// Admit admits a request before it is sent. No other request under way has the same id. expected
// estimates its use. One of the models will answer; the most expensive one counts. The error, for
// the agent and the person, is a *SpentError or, while other requests are under way, a *BusyError.
// The caller ends an admitted request with Settle or Release.
func (a *Account) Admit(id uint64, expected usage.Count, models ...string) error {
	cost := a.o.Prices.most(expected, models)
	a.mu.Lock()
	used, limits := a.now(), a.limits()
	for _, s := range shares(used, limits) {
		if s.part < 1 {
			continue
		}
		text := fmt.Sprintf("The budget of this session is spent: %s of %s.", s.used, s.limit)
		warn := a.firstSpent(s.kind)
		a.mu.Unlock()
		if warn {
			a.warn(Spent, fmt.Sprintf("the budget is used up (%s of %s) and the agent is stopped; /budget %s lets it go on", s.used, s.limit, s.raise))
		}
		return &SpentError{text + " The person can raise it with /budget " + s.raise + " in the multiplexer; do not retry before that."}
	}
	want := hold{cost: cost, tokens: Used{Count: expected}.Tokens()}
	if err := a.held.take(id, want, used, limits); err != nil {
		a.mu.Unlock()
		return err
	}
	a.used.Requests++
	a.mu.Unlock()
	a.note()
	return nil
}

// Release ends an admitted request that was not sent. It does nothing for a request that was
// not admitted.
func (a *Account) Release(id uint64) {
	a.mu.Lock()
	_, admitted := a.held[id]
	if admitted {
		delete(a.held, id)
		a.used.Requests--
	}
	a.mu.Unlock()
	if admitted {
		a.note()
	}
}

// firstSpent reports whether a limit is found to be used up for the first time.
func (a *Account) firstSpent(k Kind) bool {
	first := a.warned[k] < 1
	a.warned[k] = 1
	return first
}

// Settle replaces the estimate of a request by the use that its answer reported.
func (a *Account) Settle(id uint64, model string, c usage.Count) {
	cost, known := a.o.Prices.charge(model, c)
	more := Used{Count: c, Cost: cost}
	if !known {
		more.Guessed = cost
	}
	a.mu.Lock()
	delete(a.held, id)
	a.used = a.used.add(more)
	a.mu.Unlock()
	if !c.Zero() {
		a.note()
	}
}

// Raise raises the limits of the session. A missing limit stays missing.
func (a *Account) Raise(by Limits) {
	a.mu.Lock()
	a.raised = Limits{
		Cost: a.raised.Cost + by.Cost, Tokens: a.raised.Tokens + by.Tokens,
		Requests: a.raised.Requests + by.Requests, Time: a.raised.Time + by.Time,
	}
	clear(a.warned)
	a.mu.Unlock()
	a.note()
}

// TimeLeft returns how much of the limit of time is left, and false when there is none.
func (a *Account) TimeLeft() (left time.Duration, limited bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	limit := a.limits().Time
	return limit - a.now().Time, limit > 0
}

// Limited reports whether a limit is set of one of the kinds that by raises.
func (a *Account) Limited(by Limits) bool {
	l := a.o.Limits
	return by.Cost > 0 && l.Cost > 0 || by.Tokens > 0 && l.Tokens > 0 || by.Requests > 0 && l.Requests > 0 || by.Time > 0 && l.Time > 0
}

// Statement is an account at one moment.
type Statement struct {
	Used   Used
	Limits Limits  // with what a person has added
	Part   float64 // the largest used part of a limit; 1 is spent
}

// Statement returns what is used and allowed now.
func (a *Account) Statement() Statement {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Statement{Used: a.now(), Limits: a.limits()}
	for _, one := range shares(s.Used, s.Limits) {
		s.Part = max(s.Part, one.part)
	}
	return s
}

// Close stops the clock and stores the counts a last time. The statement can
// still be read.
func (a *Account) Close() {
	a.once.Do(func() {
		a.mu.Lock()
		a.used, a.closed = a.now(), true
		a.mu.Unlock()
		close(a.stop)
	})
	<-a.stored
}

// now returns the present use, including time. The caller holds mu.
func (a *Account) now() Used {
	u := a.used
	if !a.closed {
		u.Time += a.o.Now().Sub(a.opened)
	}
	return u
}

func (a *Account) limits() Limits { return a.o.Limits.add(a.raised) }

// note warns of limits that are nearly used up, starts storing the counts and calls Changed.
func (a *Account) note() {
	a.mu.Lock()
	var texts []string
	for _, s := range shares(a.now(), a.limits()) {
		if s.part >= warnAt && s.part < 1 && a.warned[s.kind] < warnAt {
			a.warned[s.kind] = warnAt
			texts = append(texts, fmt.Sprintf("most of the budget is used: %s of %s; /budget %s raises it", s.used, s.limit, s.raise))
		}
	}
	a.mu.Unlock()
	for _, text := range texts {
		a.warn(Nearly, text)
	}
	select {
	case a.dirty <- struct{}{}:
	default: // it is going to be stored anyway
	}
	if a.o.Changed != nil {
		a.o.Changed()
	}
}

func (a *Account) warn(kind WarningKind, text string) {
	if a.o.Warn != nil {
		a.o.Warn(Warning{kind, text})
	}
}

// run stores the counts whenever they have changed. booked is the part that the ledger already has.
func (a *Account) run(booked Used) {
	defer close(a.stored)
	failing := false
	for last := false; !last; {
		select {
		case <-a.dirty:
		case <-a.stop:
			last = true
		}
		err := a.store(&booked)
		if err != nil && !failing {
			a.warn(Unstored, fmt.Sprintf("what this session uses could not be stored: %v", err))
		}
		failing = err != nil
	}
}

// store writes the session's file and books the difference.
func (a *Account) store(booked *Used) error {
	a.mu.Lock()
	used := a.now()
	r := record{Used: used, Raised: a.raised}
	a.mu.Unlock()
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.Write(a.o.Path, append(data, '\n'), 0o600); err != nil {
		return err
	}
	if a.o.Ledger == nil {
		return nil
	}
	if err := a.o.Ledger.add(used.add(negative(*booked))); err != nil {
		return err
	}
	*booked = used
	return nil
}

func negative(u Used) Used {
	return Used{
		Count:    usage.Count{In: -u.In, Out: -u.Out, CacheRead: -u.CacheRead, CacheWrite: -u.CacheWrite},
		Requests: -u.Requests, Cost: -u.Cost, Guessed: -u.Guessed, Time: -u.Time,
	}
}
