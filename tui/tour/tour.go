// Package tour is the tour of the first start: five steps in the status line, each shown until the person
// has done it. The tour takes no key from an agent. The package also remembers what else a first start
// has explained or asked, so that nothing is shown twice.
package tour

import "slices"

// Seen says what a person has seen of what a first start explains and asks.
type Seen struct {
	Steps  int  `json:"steps"`  // of the tour that are done
	Prefix bool `json:"prefix"` // the question about a prefix key
	Phrase bool `json:"phrase"` // the note about the phrase in the panel
}

// With returns everything that s or t has seen.
func (s Seen) With(t Seen) Seen {
	return Seen{max(s.Steps, t.Steps), s.Prefix || t.Prefix, s.Phrase || t.Phrase}
}

// Did is something that a person does.
type Did uint8

// What a person does.
const (
	Typed   Did = iota // typed a key into an agent
	Left               // left the command line
	Decided            // decided a call
	Showed             // showed another tab, or a new one
)

// Step is one step of the tour.
type Step struct {
	Line string // for the status line, at most 50 columns
	Help string // for the help screen
	ends []Did  // each of these ends the step
}

// Steps returns the steps, for a key that opens the command line.
func Steps(commandKey string) []Step {
	return []Step{
		{"what you type goes to the agent", "What you type goes to the agent, every key except " + commandKey + " and those below.", []Did{Typed}},
		{commandKey + ": the command line; Esc: back", commandKey + " opens the command line, Esc closes it. Text there goes to the agent as your own words; / lists the commands.", nil},
		{"when a call waits: " + commandKey + ", /approve or /deny", "A call that needs you is shown above the status line. " + commandKey + " opens the panel: read what it would do, then /approve or /deny; or Tab, then y or n.", []Did{Decided, Left}},
		{"/new opens a tab, /split shows two of them", "/new opens a tab, Alt and its number shows it, /split shows two side by side.", []Did{Showed, Left}},
		{"/detach leaves them running; /help has it all", "/detach leaves, and the agents keep running; 'ironcurtain-mux' shows them again. /quit ends them, /resume continues one.", []Did{Left}},
	}
}

// Step returns the step that the person is at, and its number from 1. ok is false once the tour is over.
func (s Seen) Step(commandKey string) (step Step, n int, ok bool) {
	all := Steps(commandKey)
	if s.Steps < 0 || s.Steps >= len(all) {
		return Step{}, 0, false
	}
	return all[s.Steps], s.Steps + 1, true
}

// afterLine is the first step that is not about keys and the command line.
const afterLine = 2

// Note continues with the next step if d ends the present one. It reports whether it does.
func (s *Seen) Note(d Did) bool {
	step, _, ok := s.Step("")
	if !ok {
		return false
	}
	if d == Left && s.Steps < afterLine { // whoever leaves the command line knows the steps before
		s.Steps = afterLine
		return true
	}
	if !slices.Contains(step.ends, d) {
		return false
	}
	s.Steps++
	return true
}

// End ends the tour.
func (s *Seen) End() { s.Steps = len(Steps("")) }
