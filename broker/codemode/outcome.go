package codemode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Made is a call that a program has made.
type Made struct {
	Server, Tool string
	Arguments    string // the beginning of them, on one line
	Fate         Fate
}

// Fate is what became of a call.
type Fate string

// The fates of calls.
const (
	CutOff  Fate = ""        // the program ended first: whether it took effect is not known
	Done    Fate = "done"    // it took effect
	Failed  Fate = "failed"  // it was let through, and the tool reported an error
	Refused Fate = "refused" // it was not let through
)

// Bounds of what an agent is told of a program, and the advice when its value is cut.
const (
	maxList      = 6 << 10  // bytes of the list of calls
	maxLines     = 10 << 10 // bytes of the log that the agent sees
	maxArg       = 120      // bytes of arguments in that list, and of a line of the program
	shorterValue = "put it in state, and return a part of it"
)

// Excerpt shortens arguments for a list of calls.
func Excerpt(arguments string) string { return text.OneLine(arguments, maxArg) }

// Fate is what became of the call that has this answer.
func (a Answer) Fate() Fate {
	switch {
	case a.OK, a.Decision == tooLarge:
		return Done
	case a.Refused:
		return Refused
	case a.Decision != cutOff:
		return Failed
	}
	return CutOff
}

// Decisions that the audit does not have.
const (
	cutOff   = "cut-off"   // the call had been sent when its program ended
	tooLarge = "too-large" // the call took effect, but its answer does not fit
)

// CutOffAnswer is the answer to a call that had been sent when its program ended.
func CutOffAnswer(why string) Answer { return Answer{Text: why, Decision: cutOff} }

// Outcome is how a program has ended.
type Outcome struct {
	OK       bool
	Value    string // JSON
	Error    string // why there is none
	Diverged bool   // it was run again and did something else than the first time
	Log      string
	Calls    []Made

	state string // what it leaves to the next program; empty: the state is unchanged
}

func (o *Outcome) fail(why string) {
	o.OK, o.Value = false, ""
	if o.Error != "" {
		why = o.Error + "; " + why
	}
	o.Error = why
}

// Count is how many calls had that fate.
func (o *Outcome) Count(f Fate) int {
	n := 0
	for _, m := range o.Calls {
		if m.Fate == f {
			n++
		}
	}
	return n
}

// Text is what the agent is told: the value or the error, the log, and for a program that failed,
// which of its calls took effect.
func (o *Outcome) Text() string {
	var rest strings.Builder
	if o.Log != "" {
		rest.WriteString("\n\nlog:\n" + cut(strings.TrimSuffix(o.Log, "\n"), maxLines, "log less"))
	}
	if !o.OK {
		rest.WriteString("\n\n" + Effects(o.Calls))
	} else if n := o.Count(CutOff); n > 0 {
		fmt.Fprintf(&rest, "\n\nThe program did not await %d of its calls. They were cut off; whether they took effect is not known.", n)
	}
	first := o.Value
	if !o.OK {
		first = "ERROR: " + o.Error
	}
	return cut(first, maxResult-rest.Len(), shorterValue) + rest.String()
}

// Effects lists the calls of a program that took effect, or may have, for an agent.
func Effects(made []Made) string {
	var b strings.Builder
	listed, left := 0, 0
	for i, m := range made {
		if m.Fate == Refused {
			continue
		}
		line := fmt.Sprintf("%d. %s/%s %s", i+1, m.Server, m.Tool, m.Arguments)
		switch m.Fate {
		case CutOff:
			line += " (cut off: not known)"
		case Failed:
			line += " (with an error)"
		case Done, Refused:
		}
		if b.Len()+len(line) > maxList {
			left++
			continue
		}
		listed++
		b.WriteString("\n" + line)
	}
	if listed == 0 {
		return "No call of the program took effect."
	}
	if left > 0 {
		fmt.Fprintf(&b, "\nand %d more", left)
	}
	return "Calls that took effect, which are not to be repeated:" + b.String()
}

// cut shortens a text to limit bytes, by leaving out its middle. 70 % of what stays is the
// beginning.
func cut(s string, limit int, advice string) string {
	if len(s) <= limit {
		return s
	}
	marker := fmt.Sprintf("\n… the middle of %d bytes is left out: %s …\n", len(s), advice)
	room := max(limit-len(marker), 0)
	head, tail := room*7/10, len(s)-(room-room*7/10)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + marker + s[tail:]
}
