package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
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
		{placeTerminal, actPrefix, prefixes, "wait for one of the keys below"},
		{placePrefix, actPrefix, prefixes, "send the key itself to the agent"},
		{placePrefix, "new", []string{"c"}, "open a tab"},
		{placePrefix, "next", []string{"n"}, "next tab"},
		{placePrefix, "prev", []string{"p"}, "previous tab"},
		{placePrefix, "last", []string{"l"}, "the tab shown before"},
		{placePrefix, "close", []string{"x", "&"}, "close the tab"},
		{placePrefix, "split right", []string{"%"}, "split side by side"},
		{placePrefix, "split down", []string{`"`}, "split one below the other"},
		{placePrefix, "focus", []string{"o"}, "next pane of the split"},
		{placePrefix, "zoom", []string{"z"}, "show the focused pane alone, or all again"},
		{placePrefix, "copy", []string{"[", "pgup"}, "copy mode"},
		{placePrefix, "edit", nil, "open the scrollback in your editor"},
		{placePrefix, "help", []string{"?"}, "keys and commands"},
		{placePrefix, actCommand, []string{":"}, "open the command line"},
		{placePrefix, actTab, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, "show that tab"},
	}
}

// onPrefixKey is the key after the prefix. All but a few actions are named
// like the slash commands that they run.
func (m *Model) onPrefixKey(ev keys.Event) tea.Cmd {
	m.prefixed, m.dirty = false, true
	m.claim(ev.Key.Code)
	name := keyName(ev.Key)
	switch a := m.keys[placePrefix][name]; a {
	case "":
		m.complain(&hinted{fmt.Errorf("%s %s does nothing", displayKey(m.o.Prefix), displayKey(oneLine(name))), displayKey(m.o.CommandKey) + " then ? lists the keys"})
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
		m.complain(err)
	}
	return cmd
}
