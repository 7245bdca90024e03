package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
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
		out = append(out, view.Line{Text: fmt.Sprintf("The title of the real panel contains “%s”, which is shown nowhere else: a panel without it was drawn by an agent.", m.o.Phrase)})
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

// commandLines returns the lines about commands. They come directly after the keys of the first place,
// because people need them most.
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
		return nil, fault.New("/help shows all, and / searches there", "/help has no topic %s%s", args, text.DidYouMean(topic, topics))
	}
	m.showHelp("keys and commands", lines)
	if topic != "" {
		m.help.Lay(m.listRect())
		m.help.ShowLine(at)
	}
	return nil, nil
}

// headTopic returns the topic of a heading: the topic of a place of keys, or else the first word.
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

// cell escapes the characters that would end a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
