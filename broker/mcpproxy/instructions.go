package mcpproxy

import (
	"fmt"
	"slices"
	"strings"
)

// maxInstructions bounds the instructions for an agent, in bytes; about 1,500 tokens.
const maxInstructions = 5000

// conduct is what every agent is told about calls.
const conduct = `These tools run on the person's machine. A policy judges each call: it runs at once, it waits for the person's decision, or it is refused.
- A call that waits can take minutes. Wait for its answer and do not repeat it. Once approved, it takes effect, outside the workspace as well.
- A refusal begins with DENIED and names the rule. The same call is refused again: do it another way, or tell the person what you need.
- The rule ` + ruleFutile + ` means that the call could not take effect, and nobody was asked. The reason says what to change.
- Each call that waits costs the person's attention. Ask for as much as you need in one call: several files at once, all edits of a file together.
`

// instructions returns what an agent is told when it connects: how calls are judged, what is
// particular to this session, and which tools there are. What would be too long is left out, and
// the tools that are left out are counted.
func (p *Proxy) instructions() string {
	var b strings.Builder
	b.WriteString(conduct)
	if p.config.Particulars != nil {
		for _, line := range p.config.Particulars() {
			if b.Len()+len(line) > maxInstructions*2/3 {
				break
			}
			b.WriteString("- " + line + "\n")
		}
	}
	if p.config.Programs != nil {
		b.WriteString("- Programs of " + exposedName(execute.server, execute.tool) + " call these tools as well: one program instead of many calls.\n")
	}
	if p.config.OnlyPrograms {
		return p.present(b.String(), false) // the tools are in the description of proxy/execute
	}
	byServer := map[string][]string{}
	var servers []string
	c := p.catalog.Load()
	for _, t := range c.offered {
		at := c.byName[t.Name]
		if byServer[at.server] == nil {
			servers = append(servers, at.server)
		}
		byServer[at.server] = append(byServer[at.server], at.tool)
	}
	slices.Sort(servers)
	left := 0
	for i, server := range servers {
		line := fmt.Sprintf("Tools of %s: %s.\n", server, strings.Join(byServer[server], ", "))
		if b.Len()+len(line) > maxInstructions-100 {
			left += len(byServer[servers[i]])
			continue
		}
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "%d more tools are in the list of tools.\n", left)
	}
	return p.present(b.String(), false)
}
