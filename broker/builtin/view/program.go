package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// program is one of the model's programs as it is shown: with the calls that the policy proxy
// reports, not those in the program's text.
type program struct {
	n      int
	code   string
	calls  []builtin.Call // by their index
	ended  bool
	failed bool
	result string
	made   int // the number of calls, after forget
}

// forget frees everything that /programs does not list: a conversation may have any number of
// programs.
func (p *program) forget() {
	first, _, _ := strings.Cut(strings.TrimSpace(p.code), "\n")
	p.code, p.made, p.calls, p.result = strings.Clone(first[:min(len(first), 200)]), len(p.calls), nil, ""
}

// change records the new state of a call.
func (p *program) change(c builtin.Call) {
	for i := len(p.calls) - 1; i >= 0; i-- {
		if p.calls[i].Index == c.Index {
			p.calls[i] = c
			return
		}
		if p.calls[i].Index < c.Index {
			p.calls = append(p.calls[:i+1], append([]builtin.Call{c}, p.calls[i+1:]...)...)
			return
		}
	}
	p.calls = append([]builtin.Call{c}, p.calls...)
}

// waits reports whether a call waits for the person.
func (p *program) waits() bool {
	for _, c := range p.calls {
		if c.State == builtin.CallWaits {
			return true
		}
	}
	return false
}

// rows draws the program. Equal calls that follow one another and are over share a row.
func (p *program) rows(width int) []row {
	width = min(width, 100)
	title := own(fmt.Sprintf("  program %d", p.n), strong)
	if p.failed {
		title = append(title, own("  failed", bad)...)
	}
	opens := own(fmt.Sprintf("/programs %d opens it", p.n), muted)
	if columns(title...)+columns(opens...) >= width {
		opens = nil
	}
	rows := []row{spread(title, opens, width)}
	for i := 0; i < len(p.calls); {
		c, n := p.calls[i], 1
		for i++; i < len(p.calls) && over(c) && p.calls[i].Tool == c.Tool && p.calls[i].State == c.State; i++ {
			c = together(c, p.calls[i])
			if n++; p.calls[i].About != c.About {
				c.About = ""
			}
		}
		rows = append(rows, callRows(c, n, width)...)
	}
	if p.ended && p.result != "" {
		st := muted
		if p.failed {
			st = bad
		}
		rows = append(rows, clip(append(own("    → ", muted), drawable(p.result, st)...), width))
	}
	return rows
}

// together returns a call with the time that two calls took together. They may have overlapped.
func together(a, b builtin.Call) builtin.Call {
	began := a.Ended.Add(-a.Took)
	if other := b.Ended.Add(-b.Took); other.Before(began) {
		began = other
	}
	if b.Ended.After(a.Ended) {
		a.Ended = b.Ended
	}
	a.Took = a.Ended.Sub(began)
	return a
}

func over(c builtin.Call) bool {
	return c.State != builtin.CallRuns && c.State != builtin.CallWaits
}

// stateWords are our words for the states of calls.
var stateWords = map[builtin.CallState]struct {
	word  string
	style style
}{
	builtin.CallRuns:    {"runs", muted},
	builtin.CallWaits:   {"waits for you (Ctrl-A)", alert},
	builtin.CallDone:    {"allowed", 0},
	builtin.CallFailed:  {"failed", bad},
	builtin.CallRefused: {"refused", bad},
	builtin.CallCut:     {"cut off", bad},
}

// callRows draws n equal calls: the tool, the state and the time. On a narrow screen, state and time
// have a row of their own.
func callRows(c builtin.Call, n, width int) []row {
	left := append(own("    ", 0), drawable(c.Tool, 0)...)
	if n > 1 {
		left = append(left, own(fmt.Sprintf(" × %d", n), strong)...)
	}
	if c.About != "" {
		left = append(append(left, own(" ", 0)...), drawable(c.About, muted)...)
	}
	state, took := stateWords[c.State], ""
	if over(c) && c.State != builtin.CallCut { // the end of a cut off call is not known
		took = duration(c.Took)
	}
	if width < 48 {
		right := append(own("      "+state.word, state.style), own(" "+took, muted)...)
		return []row{clip(left, width), clip(trim(right), width)}
	}
	right := append(own(fmt.Sprintf("%-10s", state.word), state.style), own(fmt.Sprintf("%9s", took), muted)...)
	return []row{trim(spread(left, append(right, own("   ", 0)...), width))}
}

// trim removes the spaces at the end of a row.
func trim(r row) row {
	for len(r) > 0 && r[len(r)-1].r == ' ' {
		r = r[:len(r)-1]
	}
	return r
}

// duration formats how long a call took.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
}
