package agent

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// longestEvent bounds one line of an agent's output that is read as an event, in
// bytes.
const longestEvent = 8 << 20

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
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	last := oneLine(lines[len(lines)-1], "it printed nothing")
	return Answer{Failure: fmt.Sprintf("the agent ended with code %d and gave no answer: %s", exitCode, last)}
}

// longestFailure is the longest explanation of a failure, in bytes.
const longestFailure = 300

// oneLine makes one line of an agent's text about its failure.
func oneLine(said, otherwise string) string {
	return cmp.Or(text.OneLine(said, longestFailure), otherwise)
}
