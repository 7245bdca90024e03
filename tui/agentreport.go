package tui

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The states that a program reports of itself with OSC 7501, and how they are
// told. It says what it likes: its words are shown as its own, next to what the
// broker knows, and nothing is ever decided by them. Its message is not shown.
var reportWords = map[string]string{
	"working": "working",
	"blocked": "waiting for you",
	"error":   "in trouble",
}

// readReport finds the state in a report, "state=blocked:app=codex:kind=…", as
// words for a person; empty for a program that asks for nothing or says nothing
// that is known.
func readReport(text string) string {
	for field := range strings.SplitSeq(text, ":") {
		if state, ok := strings.CutPrefix(field, "state="); ok {
			return reportWords[state]
		}
	}
	return ""
}

// stateWords is what the broker knows of the session and, when the agent says
// something else of itself, that too. An agent that draws already is starting for as
// long as it has not asked for its tools.
func (t *tab) stateWords() string {
	_, word, _ := t.mark()
	if t.attached && t.session.State == broker.StateStarting && !t.blank() {
		word = "connecting tools"
		if len(t.first) > 0 {
			word += ", then prompt"
		}
	}
	if t.says == "" || t.says == word || !t.running() {
		return word
	}
	return word + ", it says " + t.says
}
