package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// onReply handles a reply of the person's terminal. The screens of the tabs get the terminal's
// colors, so that programs that ask for them can draw for a light or dark background. The
// multiplexer's own theme follows them, too, unless the person chose one. When the terminal reports
// a change between light and dark, onReply asks for its colors again.
func (m *Model) onReply(r keys.Reply) {
	m.sink.Answered(r)
	switch {
	case r.Kind == keys.ReplyStatus && len(r.Params) == 2 && r.Params[0] == themeReport:
		m.sink.Request(func(d view.Display) error { return d.AskColors() })
	case r.Kind == keys.ReplyColor && len(r.Params) == 1:
		m.onColor(r.Params[0], r.Text)
	}
}

// themeReport is the status by which a terminal reports that it is dark or light.
const themeReport = 997

// onColor handles a color of the person's terminal: the foreground of OSC 10 or the
// background of OSC 11.
func (m *Model) onColor(command int, text string) {
	color, ok := parseColor(text)
	switch {
	case !ok:
		return
	case command == 10:
		m.foreground = color
	case command == 11:
		m.background = color
		m.followTheme()
	default:
		return
	}
	for _, t := range m.tabs {
		t.pane.SetColors(m.foreground, m.background)
	}
}

// followTheme chooses the theme by the background, unless the person has chosen one.
func (m *Model) followTheme() {
	if !m.o.FollowTheme {
		return
	}
	if theme := view.ThemeFor(m.background); theme.Name != m.theme.Name {
		m.theme, m.dirty = theme, true
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

const (
	// titleEvery is the shortest time between two changes of the window's title, because
	// some programs animate their title.
	titleEvery = time.Second
	// maxAgentTitle is how much of the title that an agent sets is kept, in columns.
	maxAgentTitle = 60
)

// windowTitle returns the title for the person's window: the number of waiting calls, the tab, and
// the title that the tab's agent set, which is only a hint.
func (m *Model) windowTitle() string {
	title := "ironcurtain-mux"
	if n := len(m.approvals.Items); n > 0 {
		title = fmt.Sprintf("%d waiting · %s", n, title)
	}
	if t := m.current(); t != nil {
		title += fmt.Sprintf(" · %d %s", m.place(t), text.Drawable(t.title()))
		if t.agentTitle != "" {
			title += ": " + t.agentTitle
		}
	}
	return title
}

// retitle brings the title of the person's window up to date, at once or when titleEvery
// is over.
func (m *Model) retitle() tea.Cmd {
	title := m.windowTitle()
	if title == m.titled || m.cols == 0 || m.retitling {
		return nil
	}
	if wait := titleEvery - m.now().Sub(m.titledAt); wait > 0 && m.titled != "" {
		m.retitling = true
		return m.after(wait, retitleMsg{})
	}
	m.titled, m.titledAt = title, m.now()
	m.sink.Request(func(d view.Display) error { return d.SetTitle(title) })
	return nil
}

const (
	// stalledAfter is how long a terminal may take no output before its view counts as stalled:
	// nobody sees what the view shows.
	stalledAfter = 30 * time.Second
	// goneAfter is how long a terminal may take no output before its view ends.
	goneAfter = 10 * time.Minute
	// lookEvery is the time between two checks.
	lookEvery = time.Second
)

// followOutput calls tell whenever a terminal stalls or takes output again, until ctx ends. behind
// returns how long a write has been waiting for the terminal. followOutput returns an error when that
// reaches goneAfter.
func followOutput(ctx context.Context, behind func() time.Duration, tell func(stalled bool)) error {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	was := false
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil
		}
		waits := behind()
		if waits >= goneAfter {
			return fault.New("attach again from another terminal", "the terminal has taken no output for %v", goneAfter)
		}
		if now := waits >= stalledAfter; now != was {
			was = now
			tell(now)
		}
	}
}

// onStalled notes whether the terminal is stalled. While it is, the view's size does not count for any
// tab.
func (m *Model) onStalled(msg stalledMsg) {
	m.stalled = msg.stalled
	m.arrange()
}

// reportFocus reports the focus to the agents that gain or lose it, if they asked for that.
func (m *Model) reportFocus() {
	t := m.current()
	if t != nil && !m.outerLost {
		if m.focusedID == t.session.ID {
			return
		}
		m.sendFocus(false)
		m.focusedID = t.session.ID
		m.sendFocus(true)
		return
	}
	m.sendFocus(false)
	m.focusedID = ""
}

func (m *Model) sendFocus(gained bool) {
	t := m.tabOf(m.focusedID)
	if t == nil || t.dead() {
		return
	}
	ev := keys.Event{Kind: keys.FocusEvent, Focused: gained}
	t.pane.Put(keys.Encode(ev, t.pane.Screen.Modes()))
}
