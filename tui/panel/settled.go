package panel

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// ResolutionText returns the line about the result of a decision.
func ResolutionText(r broker.Resolution, me broker.Client) string {
	switch r.Outcome {
	case broker.Expired:
		return fmt.Sprintf("#%d expired: nobody decided in time, so the call was refused; /history again %d tells the agent to make it again", r.Number, r.Number)
	case broker.Withdrawn:
		if r.By == "caller" {
			return fmt.Sprintf("#%d was withdrawn by the agent", r.Number)
		}
		return fmt.Sprintf("#%d was withdrawn: its session has ended", r.Number)
	}
	text := fmt.Sprintf("#%d %s by %s at %s", r.Number, text.Drawable(string(r.Outcome)), DeciderName(r.By, r.Client, me), r.At.Local().Format("15:04:05"))
	if r.Grant > 0 {
		text += fmt.Sprintf(", remembered as grant #%d", r.Grant)
	}
	if r.Kept {
		text += "; the answer is kept for 5 minutes, and counts once, for the same call"
	}
	return text
}

// batch is the calls that one command decided together.
type batch struct {
	calls   map[string]bool // by ID
	numbers []string        // of the calls whose decision has been confirmed
	left    int             // how many calls waited and were not decided
	ended   int             // how many of the calls are known to be done
}

// Result returns the line about the result of a decision. For a call of the batch, the line names all
// calls of the batch whose decision has been confirmed so far.
func (b *batch) Result(r broker.Resolution, text string) string {
	if b == nil || !b.calls[r.ID] || !r.Won {
		return text
	}
	number := fmt.Sprintf("#%d", r.Number)
	b.numbers = append(b.numbers, number)
	return strings.Join(b.numbers, " ") + strings.TrimPrefix(text, number) + b.rest()
}

// rest says how many calls were not decided.
func (b *batch) rest() string {
	if b.left == 0 {
		return ""
	}
	return fmt.Sprintf("; %d not shown in full yet", b.left)
}

// Member reports whether a call was decided together with others.
func (b *batch) Member(id string) bool { return b != nil && len(b.calls) > 1 && b.calls[id] }

// Done notes that one of the calls is done. Once all are, it returns the line about all of them;
// before, an empty string.
func (b *batch) Done() string {
	if b.ended++; b.ended < len(b.calls) {
		return ""
	}
	return fmt.Sprintf("all %d calls that you approved are done", b.ended) + b.rest()
}
