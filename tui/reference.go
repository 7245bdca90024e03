package tui

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Reference is the table of all keys and commands in Markdown, made from the
// same registries that the multiplexer itself works by. An empty command key
// stands for the default, an empty prefix for none; chosen is as for
// input.Bind, whose error it returns.
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
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(strings.TrimSpace("/"+c.name+" "+c.args)), cell(c.help))
	}
	b.WriteString("| `//text` | send /text to the agent |\n")
	b.WriteString("\n## Marks in the tab bar\n\n| mark | says |\n|---|---|\n")
	for _, m := range view.TabMarks() {
		fmt.Fprintf(&b, "| %s | %s |\n", m.Mark, cell(m.Says))
	}
	return b.String(), nil
}

// cell escapes what would end a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
