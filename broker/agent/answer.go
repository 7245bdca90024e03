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

// concluded is an answer that was read from events, in the light of how the
// agent ended.
func concluded(a Answer, stdout string, exitCode int) Answer {
	switch {
	case a.Failure != "":
		a.Text = ""
	case exitCode != 0 || a.Text == "":
		return failedAnswer(stdout, exitCode)
	}
	return a
}

// failedAnswer is what a run came to that printed no answer in the form it was
// asked for: its last line of output is the best explanation there is.
func failedAnswer(stdout string, exitCode int) Answer {
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	last := oneLine(lines[len(lines)-1], "it printed nothing")
	return Answer{Failure: fmt.Sprintf("the agent ended with code %d and gave no answer: %s", exitCode, last)}
}

// longestFailure is the longest explanation of a failure, in bytes.
const longestFailure = 300

// oneLine makes a line of what an agent said about its failure.
func oneLine(said, otherwise string) string {
	return cmp.Or(text.OneLine(said, longestFailure), otherwise)
}
