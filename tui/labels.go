package tui

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// leastNotice is how many cells a clipped notice must have to be worth showing, and
// mostNotice how many cells are kept for a notice before the usage is shown.
const (
	leastNotice = 12
	mostNotice  = 40
)

// notices returns the notices that are always on the screen: those of the focused session,
// its receipt, and those of the options.
func (m *Model) notices() []string {
	var out []string
	seen := map[string]bool{}
	add := func(n string) {
		if n != "" && !seen[n] {
			seen[n] = true
			out = append(out, labelText(n))
		}
	}
	if t := m.current(); t != nil {
		add(t.session.Notice)
		add(t.session.Ports)
		add(t.session.Far)
		add(m.receiptLeft(t))
		if p := panel.PackagesText(t.moving); p != "" {
			out = append(out, p)
		}
	}
	for _, n := range m.o.Notices {
		add(n)
	}
	return out
}

// labelText makes a notice safe to draw. It keeps the dots between the notice's parts, which the broker
// has put there.
func labelText(notice string) string {
	const between = " · "
	parts := strings.Split(notice, between)
	for i, p := range parts {
		parts[i] = text.Drawable(p)
	}
	return strings.Join(parts, between)
}
