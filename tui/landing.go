package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// landing is what /land has shown last, which /land now writes.
type landing struct {
	session broker.SessionID
	id      string
}

// landingTitle is the title of the list until it is known what can be landed.
const landingTitle = "landing"

// runLand is /land: it shows what this tab's agent has changed in its copy of a directory, and
// writes into the directory what was shown.
func (m *Model) runLand(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fault.New("/new opens one", "there is no tab whose changes could be landed")
	}
	id, which := t.session.ID, broker.Which{}
	switch args {
	case "now":
		shown := m.landing
		if shown.id == "" || shown.session != id {
			return nil, fault.New("/land shows it first", "/land now: there is nothing to land, because nothing was shown for this tab")
		}
		m.landing = landing{}
		return m.do(func(ctx context.Context) tea.Msg {
			done, err := m.api.Land(ctx, id, shown.id)
			return carriedMsg{text.Drawable(done), err}
		}), nil
	case "--ignored":
		which.Ignored = true
	case "":
	default:
		return nil, fault.New("/land, or /land --ignored, and then /land now", "/land does not take %s", text.Drawable(args))
	}
	m.landing = landing{}
	m.showHelp(landingTitle, []view.Line{{Text: "comparing the copy with the directory"}})
	return m.do(func(ctx context.Context) tea.Msg {
		l, err := m.api.Landing(ctx, id, which)
		return landingMsg{id, l, err}
	}), nil
}

// onLanding shows what can be landed in the list that was opened for it, unless the list was
// closed meanwhile: what nobody has seen cannot be landed.
func (m *Model) onLanding(msg landingMsg) {
	if m.mode != modeHelp || m.help.Title != landingTitle {
		return
	}
	if msg.err != nil {
		m.leaveCommand()
		m.showError(msg.err)
		return
	}
	if msg.landing.Files > 0 {
		m.landing = landing{msg.session, msg.landing.ID}
	}
	m.showHelp("the copy of "+text.Drawable(msg.landing.Origin), panel.LandingLines(msg.landing))
}
