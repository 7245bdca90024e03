package budget

import (
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// Used is what has been used so far.
type Used struct {
	usage.Count
	Requests int64         `json:"requests"`
	Cost     Cost          `json:"costNanoUsd"`
	Guessed  Cost          `json:"guessedNanoUsd,omitempty"` // the part of Cost of models with unknown prices
	Time     time.Duration `json:"time,omitempty"`
}

// Tokens returns the number of tokens of all kinds.
func (u Used) Tokens() int64 { return u.In + u.Out + u.CacheRead + u.CacheWrite }

func (u Used) add(v Used) Used {
	return Used{
		Count:    u.Add(v.Count),
		Requests: u.Requests + v.Requests,
		Cost:     u.Cost + v.Cost,
		Guessed:  u.Guessed + v.Guessed,
		Time:     u.Time + v.Time,
	}
}

// Kind is the kind of a limit.
type Kind string

// The kinds of limits.
const (
	KindCost     Kind = "cost"
	KindTokens   Kind = "tokens"
	KindRequests Kind = "requests"
	KindTime     Kind = "time"
)

// share is the used part of one limit; 1 is all of it.
type share struct {
	kind  Kind
	part  float64
	used  string // for people
	limit string
	raise string // what a person would type for more
}

// The raise that a person is advised to type, by kind.
const (
	raiseCost   = "+5"
	raiseTokens = "+100k tokens"
)

func dollars(n int64) string { return fmt.Sprintf("$%.2f", Cost(n).USD()) }
func tokens(n int64) string  { return fmt.Sprintf("%d tokens", n) }

// shares lists the limits that are set, with their used parts.
func shares(u Used, l Limits) []share {
	var all []share
	add := func(kind Kind, used, limit int64, text func(int64) string, raise string) {
		if limit > 0 {
			all = append(all, share{kind, float64(used) / float64(limit), text(used), text(limit), raise})
		}
	}
	add(KindCost, int64(u.Cost), int64(l.Cost), dollars, raiseCost)
	add(KindTokens, u.Tokens(), l.Tokens, tokens, raiseTokens)
	add(KindRequests, u.Requests, l.Requests, func(n int64) string { return fmt.Sprintf("%d requests", n) }, "+50 requests")
	add(KindTime, int64(u.Time), int64(l.Time), func(n int64) string { return timespan.String(time.Duration(n).Round(time.Second)) }, "+30m")
	return all
}
