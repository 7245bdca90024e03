package panel

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// LandingLines lists what an agent has changed in its copy of a directory: what can be landed, what
// cannot, and why.
func LandingLines(l broker.Landing) []view.Line {
	lines := []view.Line{{Text: "none of these changes can be landed"}}
	switch {
	case l.Files > 0:
		lines[0].Text = fmt.Sprintf("/land now writes %s into the directory; until then nothing changes", view.Counted(l.Files, "file"))
	case len(l.Lines) == 0:
		lines[0].Text = "there is nothing to land: the directory has every change of the copy"
	}
	for _, line := range l.Lines {
		if line.Head {
			lines = append(lines, view.Line{}, view.Line{Head: true, Text: text.Drawable(line.Text)})
			continue
		}
		what := ""
		if line.What != "" {
			what = fmt.Sprintf("%-9s", line.What)
		}
		lines = append(lines, view.Line{Text: what + text.Drawable(line.Text)})
	}
	if l.More > 0 {
		lines = append(lines, view.Line{Text: fmt.Sprintf("and %s, which 'ironcurtain-mux sessions land' names", view.Counted(l.More, "more file"))})
	}
	return lines
}
