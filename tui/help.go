package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// openHelp shows all keys and commands.
func (m *Model) openHelp() {
	m.showHelp("keys and commands", m.helpText())
}

// helpText returns the lines of the help screen.
func (m *Model) helpText() []view.Line {
	var out []view.Line
	for _, line := range m.intro(m.current()) {
		out = append(out, view.Line{Text: text.Drawable(line)})
	}
	out = append(out, view.Line{Text: "in short", Head: true})
	for _, step := range tour.Steps(input.DisplayKey(m.keys.CommandKey)) {
		out = append(out, view.Line{Text: step.Help})
	}
	if m.o.Phrase != "" {
		out = append(out, view.Line{Text: fmt.Sprintf("“%s” stands in the title of the real panel and nowhere else: a panel without it was drawn by an agent.", m.o.Phrase)})
	}
	var last input.Place
	listed := false
	for _, b := range m.keys.Bindings() {
		if len(b.Keys()) == 0 || b.Place == input.PlacePrefix && m.keys.Prefix == "" {
			continue
		}
		if !listed && b.Place != input.PlaceTerminal {
			out, listed = append(out, commandLines()...), true
		}
		if b.Place != last {
			out = append(out, view.Line{Text: string(b.Place), Head: true})
			last = b.Place
		}
		out = append(out, view.Line{Key: bindingKeys(b), Text: b.Help().Desc})
	}
	out = append(out, view.Line{Text: "marks in the tab bar", Head: true})
	for _, m := range view.TabMarks() {
		out = append(out, view.Line{Key: m.Mark, Text: m.Says})
	}
	return out
}

// commandLines returns the lines about commands. They come directly after the keys of the
// first place, because people look for them most.
func commandLines() []view.Line {
	out := []view.Line{{Text: "commands", Head: true}}
	for _, c := range commandTable() {
		out = append(out, view.Line{Key: c.usage(), Text: c.help})
	}
	return append(out, view.Line{Key: "//text", Text: "send /text to the agent"})
}

// bindingKeys lists the keys of a binding. The first nine are written as one if they end in 1 to 9,
// such as "Alt-1…9".
func bindingKeys(b input.Binding) string {
	var out []string
	names := b.Keys()
	digits := len(names) >= 9
	for i, k := range names {
		out = append(out, input.DisplayKey(k))
		digits = digits && (i > 8 || strings.TrimSuffix(k, fmt.Sprint(i+1)) == strings.TrimSuffix(names[0], "1") && k != "")
	}
	if digits {
		out = append([]string{out[0] + "…9"}, out[9:]...)
	}
	return strings.Join(out, " ")
}

// runHelp is /help [TOPIC]. A topic is a heading of the help screen or a command; the screen begins
// there.
func (m *Model) runHelp(args string) (tea.Cmd, error) {
	topic := strings.ToLower(args)
	lines := m.helpText()
	at := slices.IndexFunc(lines, func(l view.Line) bool { return topic == "" || l.Head && headTopic(l.Text) == topic })
	if at < 0 {
		at = slices.IndexFunc(lines, func(l view.Line) bool {
			name, _, _ := strings.Cut(l.Key, " ")
			return name == "/"+strings.TrimPrefix(topic, "/")
		})
	}
	if at < 0 {
		var topics []string
		for _, t := range helpTopics() {
			topics = append(topics, t.Word)
		}
		return nil, fault.New("/help shows all, and / searches there", "/help has no topic %s%s", text.Drawable(args), text.DidYouMean(topic, topics))
	}
	m.showHelp("keys and commands", lines)
	if topic != "" {
		m.help.Lay(m.listRect())
		m.help.ShowLine(at)
	}
	return nil, nil
}

// headTopic is the topic of a heading: the word of a place, or the first word.
func headTopic(head string) string {
	word, _, _ := strings.Cut(head, " ")
	return cmp.Or(input.Place(head).Topic(), word)
}

// helpTopics are the topics of /help: the headings of the help screen, and the commands.
func helpTopics() []menu.Entry {
	out := []menu.Entry{{Word: "commands", About: "all commands"}, {Word: "marks", About: "marks in the tab bar"}}
	for _, p := range input.Places() {
		out = append(out, menu.Entry{Word: p.Topic(), About: "keys " + string(p)})
	}
	for _, c := range commandTable() {
		out = append(out, menu.Entry{Word: "/" + c.name, About: c.help})
	}
	return out
}

// Reference returns a page of all keys and commands in Markdown, made from the tables that
// the multiplexer itself uses. An empty command key means the default, an empty prefix
// means none, and chosen is Choice.Keys of input.Bind, whose error it returns.
func Reference(commandKey, prefix string, chosen map[string][]string) (string, error) {
	bound, err := input.Bind(input.Choice{CommandKey: commandKey, Prefix: prefix, Keys: chosen})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Keys and commands\n\n" +
		"`\"keys\"` in config.json binds other keys to the names: `{\"keys\": {\"copy.page-up\": [\"pgup\", \"U\"], \"agent.next\": [\"ctrl+pgdown\"]}}`.\n" +
		"An empty list leaves an action without a key. `commandKey` and `prefix` have members of their own.\n")
	var last input.Place
	for _, k := range bound.Bindings() {
		if k.Place != last {
			heading := strings.ToUpper(string(k.Place[:1])) + string(k.Place[1:])
			if k.Place == input.PlacePrefix && prefix == "" {
				heading += " (config.json names none)"
			}
			fmt.Fprintf(&b, "\n## %s\n\n| keys | do | name |\n|---|---|---|\n", heading)
			last = k.Place
		}
		name := k.Member()
		if name == "" {
			name = k.Name()
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", cell(bindingKeys(k)), cell(k.Help().Desc), name)
	}
	b.WriteString("\n## Commands\n\n| command | does |\n|---|---|\n")
	for _, c := range commandTable() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(c.usage()), cell(c.help))
	}
	b.WriteString("| `//text` | send /text to the agent |\n")
	b.WriteString("\n## Marks in the tab bar\n\n| mark | says |\n|---|---|\n")
	for _, m := range view.TabMarks() {
		fmt.Fprintf(&b, "| %s | %s |\n", m.Mark, cell(m.Says))
	}
	return b.String(), nil
}

// prefixHints lists what can follow the prefix key, what is used most first.
func prefixHints(k *input.Keys) []string {
	hints := []string{input.DisplayKey(k.Prefix) + " and then"}
	for _, h := range []struct {
		action input.Action
		does   string
	}{
		{"help", "all keys"}, {"new", "new tab"}, {"next", "next"}, {"prev", "previous"}, {"last", "last"}, {"split right", "beside"}, {"split down", "below"},
		{"focus", "next pane"}, {"zoom", "zoom"}, {"layout", "layout"}, {"copy", "copy mode"}, {input.ActPaste, "paste"}, {"begin rename", "name"}, {"begin tab", "tabs"}, {"resume", "sessions"},
		{input.ActCommand, "command line"}, {"close", "close"}, {"detach", "leave"}, {input.ActTab, "tab 1"},
	} {
		hints = append(hints, k.Hint(input.PlacePrefix, h.action, h.does))
	}
	sides := ""
	for _, side := range layout.Sides {
		sides += k.KeyFor(input.PlacePrefix, input.Action("focus "+side))
	}
	if sides != "" {
		hints = append(hints, sides+" pane there")
	}
	return input.NonEmpty(hints...)
}

// The first start: a tour in the status line, one question about a prefix key, and what the phrase in
// the panel is for.

// shownFor is how long something must have been on the screen to count as told or asked.
const shownFor = time.Second

// tells reports whether this view tells and asks what a first start does.
func (m *Model) tells() bool { return m.o.KeepSeen != nil && m.may() && !m.o.Safe }

// tourStep returns the step of the tour that the person is at.
func (m *Model) tourStep() (step tour.Step, n int, ok bool) {
	if !m.tells() {
		return tour.Step{}, 0, false
	}
	return m.o.Seen.Step(input.DisplayKey(m.keys.CommandKey))
}

// did notes what the person has done, for the tour.
func (m *Model) did(d tour.Did) {
	if _, _, ok := m.tourStep(); ok && m.o.Seen.Note(d) {
		m.keepSeen()
	}
}

// endTour ends the tour.
func (m *Model) endTour() {
	if _, _, ok := m.tourStep(); ok {
		m.o.Seen.End()
		m.keepSeen()
	}
}

// keepSeen has what was told and asked written down.
func (m *Model) keepSeen() {
	m.dirty = true
	keep, seen := m.o.KeepSeen, m.o.Seen
	m.later = join(m.later, m.do(func(context.Context) tea.Msg { return askedMsg{keep(seen)} }))
}

// leftLine notes that the person has left the command line, and what was above it.
func (m *Model) leftLine() {
	long := func(since time.Time) bool { return !since.IsZero() && m.now().Sub(since) >= shownFor }
	seen := m.o.Seen
	seen.Prefix = seen.Prefix || long(m.asking)
	seen.Phrase = seen.Phrase || long(m.explaining)
	m.asking, m.explaining = time.Time{}, time.Time{}
	if m.o.KeepSeen != nil && seen != m.o.Seen {
		m.o.Seen = seen
		m.keepSeen()
	}
	if m.begunAt == m.o.Seen.Steps { // one visit ends one step
		m.did(tour.Left)
	}
}

// offeredPrefix is the prefix key that the first start offers, because people who use tmux know it.
const offeredPrefix = "ctrl+b"

// asksPrefix reports whether the person is asked now whether there shall be a prefix key.
func (m *Model) asksPrefix() bool {
	return m.mode == modeCommand && m.question == nil && m.line.Empty() && m.approvals.Current() == nil &&
		m.tells() && !m.o.Seen.Prefix && m.keys.Prefix == "" && m.keys.CommandKey != offeredPrefix
}

// prefixQuestion returns the rows that ask it.
func (m *Model) prefixQuestion() []string {
	if !m.asksPrefix() {
		return nil
	}
	choice := m.o.choice()
	choice.Prefix = offeredPrefix
	with, err := input.Bind(choice)
	key := m.keys.KeyFor(input.PlaceEmpty, input.ActTakePrefix)
	if err != nil || key == "" {
		return nil // the person's own keys leave no room for it
	}
	width := max(1, m.lay.Viewport.W-4)
	rows := view.WrapWords(fmt.Sprintf("Do you know tmux? %s makes %s a prefix key like its, beside %s. These follow it:", key, input.DisplayKey(offeredPrefix), input.DisplayKey(m.keys.CommandKey)), width)
	rows = append(rows, view.WrapHints(prefixHints(with)[1:], width)...)
	return append(rows, view.WrapWords("Anything else is no. You are asked once; /prefix changes it later.", width)...)
}

// takePrefix answers it with yes.
func (m *Model) takePrefix() tea.Cmd {
	if !m.asksPrefix() {
		return nil
	}
	m.o.Seen.Prefix = true
	m.keepSeen()
	cmd, err := m.runPrefix(offeredPrefix)
	if err != nil {
		m.showError(err)
	}
	return cmd
}

// runPrefix is /prefix [KEY|none].
func (m *Model) runPrefix(args string) (tea.Cmd, error) {
	if args == "" && m.keys.Prefix == "" {
		return nil, fault.New("/prefix ctrl+b takes that of tmux", "there is no prefix key")
	} else if args == "" {
		m.showInfo(strings.Join(prefixHints(m.keys), " · "))
		return nil, nil
	}
	choice := m.o.choice()
	if choice.Prefix = args; args == "none" {
		choice.Prefix = ""
	}
	bound, err := input.Bind(choice)
	if err != nil {
		return nil, fmt.Errorf("/prefix: %w", err)
	}
	m.keys, m.o.Prefix = bound, bound.Prefix
	done := "there is no prefix key any more"
	if bound.Prefix != "" {
		done = fmt.Sprintf("%s is the prefix key now; press it to see what can follow", input.DisplayKey(bound.Prefix))
	}
	keep, key := m.o.KeepPrefix, bound.Prefix
	if keep == nil {
		m.showInfo(done)
		return nil, nil
	}
	return m.do(func(context.Context) tea.Msg {
		if err := keep(key); err != nil {
			return askedMsg{fault.Wrap("keep the prefix key", err, "it holds in this terminal until you leave")}
		}
		return carriedMsg{done: done}
	}), nil
}

// cell escapes the characters that would end a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
