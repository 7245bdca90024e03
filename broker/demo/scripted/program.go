package scripted

import (
	"fmt"
	"slices"
)

// The host can offer one tool that runs a program in TypeScript, in which the tools of its
// servers are functions (broker/codemode). An agent may be given nothing else.

// programTool is the name of that tool behind whatever an agent puts in front.
const programTool = "proxy__execute"

// inPrograms are the tools that carry out an order, as programs call them, and the arguments
// that these need.
var inPrograms = map[verb]struct {
	function  string
	arguments []string
}{
	verbRead:  {"filesystem.read_text_file", []string{"path"}},
	verbWrite: {"filesystem.write_file", []string{"path", "content"}},
	verbList:  {"filesystem.list_directory", []string{"path"}},
	verbPush:  {"git.git_push", []string{"path", "remote"}},
}

// programCall turns an order into a program of one call, or returns nil if there is no tool
// that runs programs, or none for the order in them.
func (c *conversation) programCall(o order) *call {
	at := slices.IndexFunc(c.tools, func(t tool) bool { return endsInName(t.path(), programTool) })
	to, known := inPrograms[o.verb]
	if at < 0 || !known {
		return nil
	}
	inside := tool{name: to.function, input: schema{Required: to.arguments}}
	input, err := inside.arguments(o, c.directory())
	if err != nil {
		return nil
	}
	run := c.tools[at]
	return &call{space: run.space, tool: run.name, code: run.code, input: map[string]any{
		"code": fmt.Sprintf("return await %s(%s);", to.function, encode(input)),
	}}
}
