package scripted

import (
	"fmt"
	"regexp"
)

// Newer models are given one tool, "exec", that runs a program in JavaScript,
// and the other tools as functions that such a program can call. They are declared
// in the description of "exec".

// codeTool is the name of the tool that runs programs.
const codeTool = "exec"

var (
	declaration = regexp.MustCompile(`(?s)declare const tools: \{ ([A-Za-z0-9_]+)\(args: \{(.*?)\}\): Promise`)
	parameter   = regexp.MustCompile(`(?m)(?:^|;)\s*([A-Za-z_][A-Za-z0-9_]*)(\?)?: `)
	remark      = regexp.MustCompile(`(?m)^\s*//.*$`)
)

// offerCode adds the tools that a program can call.
func (c *conversation) offerCode(space, description string) {
	for _, d := range declaration.FindAllStringSubmatch(description, -1) {
		t := tool{space: space, name: d[1], code: true, input: schema{Properties: map[string]*schema{}}}
		for _, p := range parameter.FindAllStringSubmatch(remark.ReplaceAllString(d[2], ""), -1) {
			t.input.Properties[p[1]] = &schema{}
			if p[2] == "" {
				t.input.Required = append(t.input.Required, p[1])
			}
		}
		c.tools = append(c.tools, t)
	}
}

// program returns the call as a program, which waits for the tool however long that takes, and
// prints its result or its error.
func (c *call) program() string {
	return fmt.Sprintf(`// @exec: {"yield_time_ms": 86400000}
try {
  text(await tools.%s(%s));
} catch (e) {
  text("Error: " + e);
}
`, c.tool, encode(c.input))
}
