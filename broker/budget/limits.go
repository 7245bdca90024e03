package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// Limits are what a session may use. A zero field is no limit.
type Limits struct {
	Cost     Cost          `json:"costNanoUsd,omitempty"`
	Tokens   int64         `json:"tokens,omitempty"`   // of all kinds together
	Requests int64         `json:"requests,omitempty"` // that cost something
	Time     time.Duration `json:"time,omitempty"`     // that the session was open
}

// add returns the sum of two limits. A missing limit stays missing.
func (l Limits) add(m Limits) Limits {
	sum := func(a, b int64) int64 {
		if a == 0 {
			return 0
		}
		return max(a, a+b) // an absurd raise must not overflow
	}
	return Limits{
		Cost:     Cost(sum(int64(l.Cost), int64(m.Cost))),
		Tokens:   sum(l.Tokens, m.Tokens),
		Requests: sum(l.Requests, m.Requests),
		Time:     time.Duration(sum(int64(l.Time), int64(m.Time))),
	}
}

// Raise forms, as a person types them.
const raiseForms = "+5 (US dollars), +200k tokens, +50 requests or +30m"

// The largest raise of each kind. A larger one is probably a typing error.
const (
	maxUSD    = 10_000
	maxAmount = 1_000_000_000_000
)

// ParseRaise reads a raise of limits: "+5" or "+$2.50" of US dollars, "+200k tokens",
// "+50 requests", or of time, "+1h30m".
func ParseRaise(text string) (Limits, error) {
	refuse := func(why string) (Limits, error) {
		return Limits{}, fmt.Errorf("raise the budget by %.40q: %s; allowed are %s", text, why, raiseForms)
	}
	rest, plus := strings.CutPrefix(strings.TrimSpace(text), "+")
	if !plus {
		return refuse("the amount does not begin with +")
	}
	number, unit, _ := strings.Cut(rest, " ")
	switch strings.TrimSpace(unit) {
	case "token", "tokens":
		n, ok := amount(number)
		if !ok {
			return refuse("that is not a number of tokens")
		}
		return Limits{Tokens: n}, nil
	case "request", "requests":
		n, ok := amount(number)
		if !ok {
			return refuse("that is not a number of requests")
		}
		return Limits{Requests: n}, nil
	}
	if d, err := timespan.Parse(rest); err == nil && d > 0 {
		return Limits{Time: d}, nil
	}
	if unit != "" {
		return refuse("that unit is not known")
	}
	usd, err := strconv.ParseFloat(strings.TrimPrefix(number, "$"), 64)
	if err != nil || !(usd >= 0.01 && usd <= maxUSD) {
		return refuse("that is not an amount")
	}
	return Limits{Cost: USD(usd)}, nil
}

// amount reads a whole number, with k for thousands and m for millions.
func amount(s string) (int64, bool) {
	factor := int64(1)
	switch {
	case strings.HasSuffix(s, "k"):
		s, factor = s[:len(s)-1], 1_000
	case strings.HasSuffix(s, "m"), strings.HasSuffix(s, "M"):
		s, factor = s[:len(s)-1], 1_000_000
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > maxAmount/factor {
		return 0, false
	}
	return n * factor, true
}
