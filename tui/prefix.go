package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// prefixBindings are the keys that may follow a prefix key, for people who
// have tmux in their fingers. None is in force unless the options name it: the
// command key belongs to the command line.
func prefixBindings(prefix string) []binding {
	var prefixes []string
	if prefix != "" {
		prefixes = []string{prefix}
	}
	return []binding{
		{placeTerminal, actPrefix, keyed("wait for one of the keys below", prefixes...)},
		{placePrefix, actPrefix, keyed("send the key itself to the agent", prefixes...)},
		{placePrefix, "new", keyed("open a tab", "c")},
		{placePrefix, "next", keyed("next tab", "n")},
		{placePrefix, "prev", keyed("previous tab", "p")},
		{placePrefix, "last", keyed("the tab shown before", "l")},
		{placePrefix, "close", keyed("close the tab", "x", "&")},
		{placePrefix, "split right", keyed("split side by side", "%")},
		{placePrefix, "split down", keyed("split one below the other", `"`)},
		{placePrefix, "focus", keyed("next pane of the split", "o")},
		{placePrefix, "zoom", keyed("show the focused pane alone, or all again", "z")},
		{placePrefix, "copy", keyed("copy mode", "[", "pgup")},
		{placePrefix, "edit", keyed("open the scrollback in your editor")},
		{placePrefix, "help", keyed("keys and commands", "?")},
		{placePrefix, actCommand, keyed("open the command line", ":")},
		{placePrefix, actTab, keyed("show that tab", "1", "2", "3", "4", "5", "6", "7", "8", "9")},
	}
}

// onPrefixKey is the key after the prefix. All but a few actions are named
// like the slash commands that they run.
func (m *Model) onPrefixKey(means meaning, ev keys.Event) tea.Cmd {
	m.prefixed, m.dirty = false, true
	switch name, a := means.name, means.action; a {
	case "":
		m.showError(&hinted{fmt.Errorf("%s %s does nothing", displayKey(m.o.Prefix), displayKey(view.Sanitize(name))), displayKey(m.o.CommandKey) + " then ? lists the keys"})
	case actPrefix:
		if t := m.current(); t != nil && !t.dead() {
			m.forward(t, ev)
		}
	case actTab:
		m.showNumber(placePrefix, name)
	case actCommand:
		m.enterCommand()
	default:
		return m.runAction(a)
	}
	return nil
}

// runAction runs the slash command that an action is named like.
func (m *Model) runAction(a action) tea.Cmd {
	word, args := parseCommand(string(a))
	c, ok := lookUpCommand(word)
	if !ok {
		return nil
	}
	cmd, err := c.run(m, args)
	if err != nil {
		m.showError(err)
	}
	return cmd
}
