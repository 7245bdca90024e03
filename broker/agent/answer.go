package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// longestEvent bounds one line of an agent's output that is read as an event, in
// bytes.
const longestEvent = 8 << 20

// eventsOf yields the events that an agent printed, one a line. Lines that are no event, and those
// that are too long, are passed over.
func eventsOf[Event any](stdout string) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for line := range strings.Lines(stdout) {
			var e Event
			if len(line) > longestEvent || json.Unmarshal([]byte(line), &e) != nil {
				continue
			}
			if !yield(e) {
				return
			}
		}
	}
}

// AnswerOf reads what a one-shot run printed and how it ended.
func (a Adapter) AnswerOf(stdout, stderr string, exitCode int) Answer {
	switch {
	case a.Answer == nil:
		return printed(stdout, stderr, exitCode)
	case exitCode != 0 && strings.TrimSpace(stdout) == "":
		stdout = stderr // it says why the agent failed
	}
	return a.Answer(stdout, exitCode)
}

// printed is the answer of an agent all of whose output is its answer. The last line of its
// complaints explains a failure.
func printed(stdout, stderr string, exitCode int) Answer {
	a := Answer{Text: stdout}
	if exitCode != 0 {
		a.Failure = fmt.Sprintf("it ended with code %d", exitCode)
		if why := lastLine(stderr); why != "" {
			a.Failure += ": " + why
		}
	}
	return a
}

// concluded completes an answer that was read from events by the way the agent ended.
func concluded(a Answer, stdout string, exitCode int) Answer {
	switch {
	case a.Failure != "":
		a.Text = ""
	case exitCode != 0 || a.Text == "":
		return failedAnswer(stdout, exitCode)
	}
	return a
}

// failedAnswer is the answer of a run that printed none in the expected form. Its last line
// of output is the best explanation.
func failedAnswer(stdout string, exitCode int) Answer {
	last := cmp.Or(lastLine(stdout), "it printed nothing")
	return Answer{Failure: fmt.Sprintf("the agent ended with code %d and gave no answer: %s", exitCode, last)}
}

// lastLine returns the last line of what an agent printed, fit to be shown.
func lastLine(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	return oneLine(lines[len(lines)-1], "")
}

// longestFailure is the longest explanation of a failure, in bytes.
const longestFailure = 300

// oneLine makes one line of an agent's text about its failure.
func oneLine(said, otherwise string) string {
	return cmp.Or(text.OneLine(said, longestFailure), otherwise)
}
