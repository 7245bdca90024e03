package tui

import (
	"fmt"
	"strings"
)

// Reference is the table of all keys and commands in Markdown, made from the
// same registries that the multiplexer itself works by. An empty command key
// stands for the default, an empty prefix for none.
func Reference(commandKey, prefix string) string {
	o := Options{CommandKey: commandKey, Prefix: prefix}.withDefaults()
	var b strings.Builder
	b.WriteString("# Keys and commands\n")
	var last place
	for _, k := range keyTable(o.CommandKey, o.Prefix) {
		if k.place != last {
			heading := strings.ToUpper(string(k.place[:1])) + string(k.place[1:])
			fmt.Fprintf(&b, "\n## %s\n\n| keys | do |\n|---|---|\n", heading)
			last = k.place
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(bindingKeys(k)), cell(k.help))
	}
	b.WriteString("\n## Commands\n\n| command | does |\n|---|---|\n")
	for _, c := range commandTable() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(strings.TrimSpace("/"+c.name+" "+c.args)), cell(c.help))
	}
	b.WriteString("| `//text` | send /text to the agent |\n")
	return b.String()
}

// cell escapes what would end a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
