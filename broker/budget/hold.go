package budget

import (
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

const (
	// maxInput is the largest estimate of a request's input in tokens. A larger request
	// consists mostly of pictures.
	maxInput = 200_000
	// unstatedOutput is the estimate of an answer's tokens when its request has no limit,
	// and maxOutput is more than any answer has.
	unstatedOutput = 4096
	maxOutput      = 10_000_000
)

// Expect estimates the use of a request from its size in bytes, the number of answers it
// asks for, and the limit of tokens for each, which is 0 when the request has none. A token
// has four bytes on average.
func Expect(requestBytes, answers, most int64) usage.Count {
	if most <= 0 {
		most = unstatedOutput
	}
	most, answers = min(most, maxOutput), min(max(answers, 1), maxOutput)
	return usage.Count{In: min(requestBytes/4, maxInput), Out: min(most*answers, maxOutput)}
}

// hold is the reserved cost of a request under way.
type hold struct {
	cost   Cost
	tokens int64
}

// holds are the reserved costs of all requests under way, by their numbers. They are only in
// memory, because the requests end with the program.
type holds map[uint64]hold

// busyTime is when to try again a request that was refused because of the reserved costs of
// others.
const busyTime = 10 * time.Second

// BusyError means that the requests under way may use up the rest of a budget.
type BusyError struct{ text string }

func (e *BusyError) Error() string { return e.text }

// RetryAfter returns how long to wait before the next try.
func (e *BusyError) RetryAfter() time.Duration { return busyTime }

// take reserves the possible cost of a request, so that requests sent at the same time do
// not each spend the rest of the budget. It refuses a request whose worst case does not fit
// beside those of the others. It does not refuse a lone request, because answers are hardly
// ever as long as they may be; such a request reserves the whole rest, and only it can
// exceed the budget.
func (h holds) take(id uint64, want hold, used Used, l Limits) error {
	var others hold
	for _, one := range h {
		others.cost += one.cost
		others.tokens += one.tokens
	}
	for _, kind := range []struct {
		want              *int64
		used, held, limit int64
		text              func(int64) string
		raise             string
	}{
		{(*int64)(&want.cost), int64(used.Cost), int64(others.cost), int64(l.Cost), dollars, raiseCost},
		{&want.tokens, used.Tokens(), others.tokens, l.Tokens, tokens, raiseTokens},
	} {
		left := kind.limit - kind.used - kind.held
		if kind.limit == 0 || *kind.want <= left {
			continue
		}
		if len(h) > 0 {
			return &BusyError{fmt.Sprintf("What is left of this session's budget (%s of %s) may be used up by the requests under way; "+
				"try again when they have ended. The person can raise it with /budget %s in the multiplexer.",
				kind.text(kind.limit-kind.used), kind.text(kind.limit), kind.raise)}
		}
		*kind.want = left
	}
	h[id] = want
	return nil
}
