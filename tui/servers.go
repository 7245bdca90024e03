package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// runServers is /servers: it lists the tool servers of this tab, starts one again, or turns
// one off.
func (m *Model) runServers(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fault.New("/new opens one", "there is no tab that could have servers")
	}
	id := t.session.ID
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return m.do(func(ctx context.Context) tea.Msg {
			servers, err := m.api.Servers(ctx, id)
			return serversMsg{servers, err}
		}), nil
	case len(words) == 2 && (words[0] == "restart" || words[0] == "disable"):
		off := words[0] == "disable"
		return m.do(func(ctx context.Context) tea.Msg {
			return turnedServerMsg{words[1], off, m.api.TurnServer(ctx, id, words[1], off)}
		}), nil
	}
	return nil, fault.New("/servers alone lists them", "/servers %s: takes nothing, or restart or disable and a name", text.Drawable(args))
}

func (m *Model) onServers(msg serversMsg) {
	if msg.err != nil {
		m.showError(fmt.Errorf("list servers: %w", msg.err))
		return
	}
	m.showHelp("servers", panel.ServerLines(msg.servers))
}

func (m *Model) onTurnedServer(msg turnedServerMsg) {
	switch {
	case msg.err != nil:
		m.showError(msg.err)
	case msg.off:
		m.showSuccess("server " + text.Drawable(msg.name) + " is off in this tab; /servers restart " + text.Drawable(msg.name) + " turns it on")
	default:
		m.showSuccess("server " + text.Drawable(msg.name) + " is started again; /servers shows it")
	}
}
