package here

import (
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Choice is where the first tab works.
type Choice string

// The choices. All except Later are kept for the directory.
const (
	Yes      Choice = "yes"      // in the directory
	Worktree Choice = "worktree" // on a branch of its own, in a working tree made of the directory
	No       Choice = "no"       // not in the directory
	Later    Choice = "later"    // not in the directory this time; the person is asked again
)

// MinAge is how long the question must have been on the terminal before a key answers it.
const MinAge = 300 * time.Millisecond

// Project is the project about which the person is asked.
type Project struct {
	Dir string // its real path
	// Worktree says that a working tree can be made of the project.
	Worktree bool
	// Copied says that agents work on a copy of the project, because the engine does not see this
	// machine's files. The worktree is then offered first, because its commits arrive by themselves.
	Copied bool
	// Tabs says that tabs are open. If the person does not want to work in the project, they are
	// shown instead of a new tab.
	Tabs bool
	// Shared says that others can put files into the directory. Then only a no is kept, because the
	// directory may contain another project next time.
	Shared bool
	// Keep stores the answer for the next time. It may block.
	Keep func(Choice) error
}

// Question is the question while it is asked. The zero value asks nothing.
type Question struct {
	Project
	seq   uint64    // the scene that showed the question first; 0: none
	since time.Time // when the terminal showed that scene; zero: not yet
}

// Ask returns the question about a project.
func Ask(p Project) Question { return Question{Project: p} }

// Answer returns the choice that a key stands for at the time now; empty: none.
func (q *Question) Answer(keys *input.Keys, name string, now time.Time) Choice {
	a := keys.At(input.PlaceHere, name)
	switch {
	case a == "" || q.since.IsZero() || now.Sub(q.since) < MinAge:
		return ""
	case a == input.ActYes:
		return Yes
	case a == input.ActHereWorktree && q.Worktree:
		return Worktree
	case a == input.ActNo:
		return No
	case a == input.ActLeave:
		return Later
	}
	return ""
}

// Keeps reports whether a choice is kept.
func (p Project) Keeps(c Choice) bool { return c == No || c != Later && !p.Shared }

// Painted notes that the terminal shows a scene, since the time at.
func (q *Question) Painted(seq uint64, at time.Time) {
	if q.seq != 0 && seq >= q.seq && q.since.IsZero() {
		q.since = at
	}
}

// Hide notes that the question was not on the screen. No key answers it before it was shown again for
// MinAge.
func (q *Question) Hide() { q.seq, q.since = 0, time.Time{} }

// Draw draws the question, in the scene seq. report asks the compositor to report when the scene is
// painted.
func (q *Question) Draw(at view.Rect, theme view.Theme, keys *input.Keys, seq uint64) (s *view.Surface, report bool) {
	s = view.NewSurface(at, theme.Body)
	width := max(1, at.W-2)
	title, rows := "work in this project?", q.rows(width, theme, keys)
	if len(rows) >= at.H { // the directory and the answers matter most
		title, rows = "work in "+clipFront(text.Drawable(q.Dir), width-len("work in ?"))+"?", q.answers(width, theme, keys, false)
	}
	s.Fill(0, theme.Title)
	s.Text(1, 0, view.Clip(title, width), theme.Title)
	for y, row := range rows {
		s.Text(1, 1+y, row.Text, row.Style)
	}
	if q.seq == 0 {
		q.seq = seq
	}
	return s, q.since.IsZero()
}

// rows returns the rows below the title.
func (q *Question) rows(width int, theme view.Theme, keys *input.Keys) (rows []view.StyledRow) {
	blank := view.StyledRow{}
	rows = append(rows, blank)
	for _, part := range view.Wrap(text.Drawable(q.Dir), width) {
		rows = append(rows, view.StyledRow{Text: part, Style: theme.Changed})
	}
	rows = append(append(rows, blank), q.answers(width, theme, keys, true)...)
	rows = append(rows, blank)
	kept := "The answer is kept for this directory; 'ironcurtain-mux here' shows and changes it."
	if q.Shared {
		kept = "Others can write to this directory, so only a no is kept."
	}
	return hang(rows, "", kept, width, theme.Label)
}

// answers returns the rows that say which key does what and, with full, what that means.
func (q *Question) answers(width int, theme view.Theme, keys *input.Keys, full bool) (rows []view.StyledRow) {
	for _, c := range q.choices(keys) {
		if !full {
			rows = append(rows, view.StyledRow{Text: view.Clip(c.key+"  "+c.does, width), Style: theme.Body})
			continue
		}
		rows = hang(rows, c.key+"  ", c.does, width, theme.Body)
		rows = hang(rows, strings.Repeat(" ", view.TextWidth(c.key)+2), c.means, width, theme.Label)
	}
	return rows
}

// hang adds a text after a lead. Further rows of the wrapped text are indented by the lead's width.
func hang(rows []view.StyledRow, lead, text string, width int, style term.Style) []view.StyledRow {
	indent := view.TextWidth(lead)
	for _, part := range view.WrapWords(text, max(1, width-indent)) {
		rows = append(rows, view.StyledRow{Text: lead + part, Style: style})
		lead = strings.Repeat(" ", indent)
	}
	return rows
}

// clipFront shortens a text to width columns, and keeps its end.
func clipFront(text string, width int) string {
	for cut := false; view.TextWidth(text) > max(1, width); cut = true {
		runes := []rune(text)
		if cut {
			runes = runes[1:]
		}
		text = "…" + string(runes[1:])
	}
	return text
}

// choice is one answer, as it is shown.
type choice struct{ key, does, means string }

func (q *Question) choices(keys *input.Keys) []choice {
	in := choice{
		keys.KeyFor(input.PlaceHere, input.ActYes), "work in it",
		"An agent reads and changes these files directly.",
	}
	if q.Copied {
		in.does, in.means = "work on a copy of it", "The engine does not see these files; /land writes an agent's changes into them."
	}
	all := []choice{in}
	if q.Worktree {
		branch := choice{
			keys.KeyFor(input.PlaceHere, input.ActHereWorktree), "work on a branch of its own",
			"These files stay as they are; what an agent commits arrives on its branch.",
		}
		if all = append(all, branch); q.Copied {
			all[0], all[1] = branch, in
		}
	}
	no := choice{keys.KeyFor(input.PlaceHere, input.ActNo), "work in an empty directory", "Agents see nothing of the project."}
	if q.Tabs {
		no.does = "show the open tabs, none of which works here"
	}
	return append(all, no)
}

// Hints returns what the person can do, for the status line.
func (q *Question) Hints(keys *input.Keys) []string {
	in, worktree := keys.Hint(input.PlaceHere, input.ActYes, "works here"), ""
	if q.Worktree {
		worktree = keys.Hint(input.PlaceHere, input.ActHereWorktree, "branch")
	}
	if q.Copied {
		in, worktree = worktree, keys.Hint(input.PlaceHere, input.ActYes, "copy")
	}
	return input.NonEmpty(in, worktree, keys.Hint(input.PlaceHere, input.ActNo, "does not"), keys.Hint(input.PlaceHere, input.ActLeave, "asks again next time"))
}
