package tui

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// menuRows is how many commands the menu shows.
const menuRows = 8

// menu returns the commands that what is typed may become, while the name of a command is typed:
// those that begin with it, then those that have it in their name or, when it is longer, in their
// help. A call that waits needs the room.
func (m *Model) menu() []command {
	typed := input.TextOf(m.line.Pieces)
	word, is := strings.CutPrefix(strings.ToLower(typed), "/")
	if m.mode != modeCommand || m.question != nil || m.approvals.Current() != nil || !is || strings.ContainsAny(word, "/ \n") {
		return nil
	}
	var begin, inside, about []command
	for _, c := range commandTable() {
		switch {
		case strings.HasPrefix(c.name, word):
			begin = append(begin, c)
		case strings.Contains(c.name, word):
			inside = append(inside, c)
		case len(word) > 2 && strings.Contains(strings.ToLower(c.help), word):
			about = append(about, c)
		}
	}
	return append(append(begin, inside...), about...)
}

// menuWidth is how many columns the names and arguments of a menu may take.
const menuWidth = 24

// drawMenu draws the menu above the command line.
func (m *Model) drawMenu(s *view.Scene, at view.Rect, all []command) {
	if len(all) == 0 || at.H == 0 {
		return
	}
	shown, rest := all[:min(len(all), at.H)], ""
	if hidden := len(all) - len(shown); hidden > 0 {
		shown, rest = shown[:len(shown)-1], view.Counted(hidden+1, "more command")
	}
	width := 0
	for _, c := range shown {
		width = min(max(width, view.TextWidth(c.usage())), menuWidth, at.W/2)
	}
	box := view.NewSurface(at, m.theme.Input)
	first := max(0, at.H-len(all))
	for i, c := range shown {
		box.Text(2, first+i, view.Clip(c.usage(), width), m.theme.Input)
		box.Text(width+4, first+i, view.Clip(c.help, max(0, at.W-width-5)), m.theme.Muted)
	}
	box.Text(2, at.H-1, rest, m.theme.Muted)
	s.Layers = append(s.Layers, box)
}
