package builtin

import (
	"fmt"
	"strings"
)

// maxMade bounds the list of calls that a model is given, in bytes.
const maxMade = 16 << 10

// listMade lists calls that took effect, or may have, for a model. Calls of one tool in a row
// are one line. The newest lines stay when there are too many.
func listMade(made []Call) string {
	var lines []string
	for i := 0; i < len(made); {
		end := i + 1
		for end < len(made) && made[end].Tool == made[i].Tool && made[end].State == made[i].State {
			end++
		}
		line := "- " + made[i].Tool + " " + made[i].About
		if end > i+1 {
			line += fmt.Sprintf(" and %d more of it", end-i-1)
		}
		switch made[i].State {
		case CallFailed:
			line += " (with an error)"
		case CallCut, CallRuns, CallWaits:
			line += " (cut off: not known)"
		case CallDone, CallRefused:
		}
		lines, i = append(lines, line), end
	}
	size, from := 0, len(lines)
	for from > 0 && size+len(lines[from-1]) < maxMade {
		from--
		size += len(lines[from]) + 1
	}
	if len(lines) == 0 {
		return "No call took effect."
	}
	text := "Calls that took effect, which are not to be repeated:\n"
	if from > 0 {
		text += fmt.Sprintf("(%d earlier lines are left out)\n", from)
	}
	return text + strings.Join(lines[from:], "\n")
}

// calls keeps how the calls of one program stand.
type calls []Call

// report takes the news of a call.
func (c *calls) report(news Call) {
	for len(*c) < news.Index && news.Index <= maxReported {
		*c = append(*c, Call{})
	}
	if news.Index >= 1 && news.Index <= len(*c) {
		(*c)[news.Index-1] = news
	}
}

// maxReported is more than a program makes calls.
const maxReported = 1000

// effective are those that took effect, or may have.
func (c calls) effective() []Call {
	made := []Call{}
	for _, one := range c {
		if one.Tool != "" && one.State != CallRefused {
			made = append(made, one)
		}
	}
	return made
}
