package budget

import (
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

const (
	// maxInput bounds the tokens that a request is taken to bring along: most bytes of a
	// large one are pictures.
	maxInput = 200_000
	// unstatedOutput is how many tokens an answer is expected to have when its request
	// does not bound it, and maxOutput is more than any has.
	unstatedOutput = 4096
	maxOutput      = 10_000_000
)

// Expect is what a request may cost that is about to be sent, given its size, how many
// answers it asks for and how many tokens it lets each have at most; 0 when it does not
// say. A token has four bytes on average.
func Expect(requestBytes, answers, most int64) usage.Count {
	if most <= 0 {
		most = unstatedOutput
	}
	most, answers = min(most, maxOutput), min(max(answers, 1), maxOutput)
	return usage.Count{In: min(requestBytes/4, maxInput), Out: min(most*answers, maxOutput)}
}

// hold is what a request under way may still cost.
type hold struct {
	cost   Cost
	tokens int64
}

// holds are those of all requests under way, by their numbers. They live in memory
// only: when the program is killed, its requests end with it.
type holds map[uint64]hold

// busyTime is after what time another try is worth it for a request that was refused
// for what others may cost.
const busyTime = 10 * time.Second

// BusyError says that the requests under way may use up what is left of a budget.
type BusyError struct{ text string }

func (e *BusyError) Error() string { return e.text }

// RetryAfter is when another try is worth it.
func (e *BusyError) RetryAfter() time.Duration { return busyTime }

// take holds back what a request may cost, so that requests sent at the same time do
// not each spend what is left. A request whose worst case does not fit beside those
// of the others is refused. A lone request is not, however long an answer it allows:
// hardly any answer is as long as it may be. It holds back all that is left, and so it
// alone can use more than that.
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
