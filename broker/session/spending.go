package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Usage says how much of models was used. The cost is an estimate from a price table.
type Usage struct {
	Requests   int64         `json:"requests"`
	In         int64         `json:"in"` // input tokens that were not in a cache
	Out        int64         `json:"out"`
	CacheRead  int64         `json:"cacheRead"`
	CacheWrite int64         `json:"cacheWrite"`
	CostUSD    float64       `json:"costUsd"`
	GuessedUSD float64       `json:"guessedUsd,omitempty"` // the part of CostUSD for models whose price is unknown
	Time       time.Duration `json:"timeNs"`               // how long the session was open
}

// Tokens returns the number of tokens of all kinds.
func (u Usage) Tokens() int64 { return u.In + u.Out + u.CacheRead + u.CacheWrite }

// since returns the usage since an earlier one.
func (u Usage) since(then Usage) *Usage {
	return &Usage{
		Requests: u.Requests - then.Requests, In: u.In - then.In, Out: u.Out - then.Out,
		CacheRead: u.CacheRead - then.CacheRead, CacheWrite: u.CacheWrite - then.CacheWrite,
		CostUSD: u.CostUSD - then.CostUSD, GuessedUSD: u.GuessedUSD - then.GuessedUSD, Time: u.Time - then.Time,
	}
}

// Allowance says how much of models a session may use. Zero means no limit.
type Allowance struct {
	CostUSD  float64       `json:"costUsd,omitempty"`
	Tokens   int64         `json:"tokens,omitempty"`
	Requests int64         `json:"requests,omitempty"`
	Time     time.Duration `json:"timeNs,omitempty"`
}

// Budget is one session's usage and allowance.
type Budget struct {
	Session   stored.ID `json:"session"`
	Used      Usage     `json:"used"`
	Allowance Allowance `json:"allowance"`
	Part      float64   `json:"part"` // the largest used share of a limit; from 1 on requests are refused
}

// Budgets is the usage of all open sessions, and the total.
type Budgets struct {
	Sessions   []Budget `json:"sessions"`
	Total      Usage    `json:"total"` // of all sessions that this home has ever had
	PricesDate string   `json:"pricesDate"`
}

// openAccount opens the session's budget, with the usage of its former lives.
func (s *Session) openAccount(stack *teardown) error {
	account, err := budget.Open(budget.Options{
		Path:    s.layout.Budget(),
		Limits:  s.deps.Config.Limits,
		Prices:  s.deps.Config.Prices,
		Ledger:  s.deps.Ledger,
		Warn:    s.warnOfBudget,
		Changed: s.relayBudget,
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.account = account
	s.mu.Unlock()
	s.relayBudget()
	stack.push("store what was used", func(context.Context) error { account.Close(); return nil })
	return nil
}

// budgetEvent is an event of a turn that the account adds.
type budgetEvent struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The kinds of a budgetEvent.
const (
	budgetWarning   = "budget_warning"   // most of a limit is used
	budgetExhausted = "budget_exhausted" // a limit is used up
)

// warnOfBudget shows a warning to the person and, in an idle session, adds it to the turn's events.
func (s *Session) warnOfBudget(w budget.Warning) {
	s.notice(true, w.Text)
	kind := map[budget.WarningKind]string{budget.Nearly: budgetWarning, budget.Spent: budgetExhausted}[w.Kind]
	if kind == "" || !s.idle {
		return
	}
	s.mu.Lock()
	s.budgetEvents = append(s.budgetEvents, budgetEvent{kind, w.Text}) // bounded: a few each time the budget is raised
	s.mu.Unlock()
}

// addBudgetEvents adds the account's events since the last turn to a turn. It removes events of these
// kinds that come from the agent.
func (s *Session) addBudgetEvents(t *Turn) {
	s.mu.Lock()
	events := s.budgetEvents
	s.budgetEvents = nil
	s.mu.Unlock()
	if t.End == TurnOverBudget && !slices.ContainsFunc(events, func(e budgetEvent) bool { return e.Kind == budgetExhausted }) {
		events = append(events, budgetEvent{budgetExhausted, "the session's budget is used up"}) // its time is, or an earlier turn had the event
	}
	var all []any
	var agents []map[string]any
	_ = json.Unmarshal(t.Events, &agents) // after an error there are no events
	for _, e := range agents {
		if e["kind"] != budgetWarning && e["kind"] != budgetExhausted {
			all = append(all, e)
		}
	}
	for _, e := range events {
		all = append(all, e)
	}
	t.Events = nil
	if len(all) > 0 {
		t.Events, _ = json.Marshal(all) // cannot fail: these are values from JSON, and strings
	}
}

// relayBudget publishes what the session has used.
func (s *Session) relayBudget() {
	if one, counted := s.Budget(); counted {
		s.deps.Events.Spent(one)
	}
}

// Budget returns the session's budget, and false for a session without a model, which has
// no budget.
func (s *Session) Budget() (Budget, bool) {
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	if account == nil {
		return Budget{}, false
	}
	st := account.Statement()
	return Budget{
		Session: s.fixed.ID, Part: st.Part, Used: UsageOf(st.Used),
		Allowance: Allowance{
			CostUSD: st.Limits.Cost.USD(), Tokens: st.Limits.Tokens,
			Requests: st.Limits.Requests, Time: st.Limits.Time,
		},
	}, true
}

// UsageOf converts the usage of a ledger or an account.
func UsageOf(u budget.Used) Usage {
	return Usage{
		Requests: u.Requests, In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CostUSD: u.Cost.USD(), GuessedUSD: u.Guessed.USD(), Time: u.Time,
	}
}

// reserveBudget is the mitm.Config.Budget: it reserves what a request may cost at most, or refuses the
// request.
func (s *Session) reserveBudget(_ context.Context, r mitm.Request) error {
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	err := account.Admit(r.Seq, budget.Expect(int64(len(r.Body)), r.Answers, r.Most), append([]string{r.Model}, r.Others...)...)
	spent := (*budget.SpentError)(nil)
	s.mu.Lock()
	s.spent = errors.As(err, &spent)
	s.mu.Unlock()
	return err
}

// errOutOfTime is the error for a session whose budget of time is used up.
var errOutOfTime = errors.New("the session's time is used up (budget.minutes in config.json, or /budget +30m, gives it more)")

// outOfTime returns errOutOfTime if the session's time is used up. The tool proxy refuses calls then, so
// that an agent does not continue with those that its last answer from a model contained.
func (s *Session) outOfTime() error {
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	if account == nil {
		return nil
	}
	if left, limited := account.TimeLeft(); !limited || left > 0 {
		return nil
	}
	return errOutOfTime
}

// settleRequest counts the usage that an answer reported. For a request that was not sent, it releases
// what reserveBudget has reserved.
func (s *Session) settleRequest(a mitm.Activity) {
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	switch {
	case account == nil:
	case a.Kind == mitm.RequestEnded:
		account.Settle(a.Seq, a.Model, a.Usage)
	case a.Kind == mitm.RequestRefused:
		account.Release(a.Seq)
	}
}

// RaiseBudget raises a limit of the session's budget.
func (s *Session) RaiseBudget(by string) (Budget, error) {
	more, err := budget.ParseRaise(by)
	if err != nil {
		return Budget{}, err
	}
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	switch {
	case account == nil:
		return Budget{}, errors.New("raise the budget: this tab talks to no model")
	case !account.Limited(more):
		return Budget{}, fmt.Errorf("raise the budget by %q: the budget has no limit of this kind", by)
	}
	account.Raise(more)
	one, _ := s.Budget()
	return one, nil
}
