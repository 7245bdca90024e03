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

// eventsOf yields the events that an agent printed, one on each line. It skips other lines, and
// lines that are too long.
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

// AnswerOf makes an Answer of the output and exit code of a one-shot run.
func (a Adapter) AnswerOf(stdout, stderr string, exitCode int) Answer {
	switch {
	case a.Answer == nil:
		return printed(stdout, stderr, exitCode)
	case exitCode != 0 && strings.TrimSpace(stdout) == "":
		stdout = stderr // which says why the agent failed
	}
	return a.Answer(stdout, exitCode)
}

// printed returns the answer of an agent whose whole output is its answer. The last line of stderr
// explains a failure.
func printed(stdout, stderr string, exitCode int) Answer {
	a := Answer{Text: stdout}
	if exitCode != 0 {
		a.Failure = fmt.Sprintf("the agent ended with code %d", exitCode)
		if why := lastLine(stderr); why != "" {
			a.Failure += ": " + why
		}
	}
	return a
}

// concluded completes an answer that was read from events with the agent's exit code.
func concluded(a Answer, stdout string, exitCode int) Answer {
	switch {
	case a.Failure != "":
		a.Text = ""
	case exitCode != 0 || a.Text == "":
		return failedAnswer(stdout, exitCode)
	}
	return a
}

// failedAnswer returns the answer of a run that printed none in the expected form. The last line of
// the output explains it best.
func failedAnswer(stdout string, exitCode int) Answer {
	last := cmp.Or(lastLine(stdout), "it printed nothing")
	return Answer{Failure: fmt.Sprintf("the agent ended with code %d and gave no answer: %s", exitCode, last)}
}

// lastLine returns the last line of an agent's output, shortened by oneLine.
func lastLine(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	return oneLine(lines[len(lines)-1], "")
}

// longestFailure is the longest explanation of a failure, in bytes.
const longestFailure = 300

// oneLine shortens an agent's text about its failure to one line, or returns otherwise if the text
// is empty.
func oneLine(said, otherwise string) string {
	return cmp.Or(text.OneLine(said, longestFailure), otherwise)
}
