package tui

import (
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// onReply takes what the person's terminal says of itself. Programs that ask for
// the colors of theirs are told the person's, so that a program that draws for a
// light background does so where there is one; and the multiplexer's own parts
// follow, unless a theme was chosen.
func (m *Model) onReply(r keys.Reply) {
	m.sink.answered(r)
	if r.Kind != keys.ReplyColor || len(r.Params) != 1 {
		return
	}
	color, ok := parseColor(r.Text)
	switch {
	case !ok:
		return
	case r.Params[0] == 10:
		m.foreground = color
	case r.Params[0] == 11:
		m.background = color
		if m.o.FollowTheme && m.theme.Name == "dark" && !color.Dark() {
			m.theme, m.dirty = lightTheme(), true
		}
	default:
		return
	}
	for _, t := range m.tabs {
		t.pane.screen.SetColors(m.foreground, m.background)
	}
}

// parseColor reads a color as terminals write it: "rgb:ffff/8080/00".
func parseColor(s string) (term.Color, bool) {
	_, s, found := strings.Cut(s, ":")
	parts := strings.Split(s, "/")
	if !found || len(parts) < 3 {
		return 0, false
	}
	var c [3]uint8
	for i, p := range parts[:3] {
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		full := uint64(1)<<(4*len(p)) - 1
		c[i] = uint8((v*255 + full/2) / full)
	}
	return term.RGB(c[0], c[1], c[2]), true
}
