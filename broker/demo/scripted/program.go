package scripted

import (
	"fmt"
	"path"
	"slices"
)

// The host can offer one tool that runs a program in TypeScript, in which the tools of its
// servers are functions (broker/codemode). An agent may be given nothing else.

// programTools are the names of that tool behind whatever an agent puts in front: as the
// host offers it to agents that others wrote, and as our own agent offers it to its model.
var programTools = []string{"proxy__execute", "execute_code"}

// batchFile is what the order batch reads. The demo's workspace has it.
const batchFile = "hello.txt"

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
	at := slices.IndexFunc(c.tools, func(t tool) bool {
		return slices.ContainsFunc(programTools, func(name string) bool { return endsInName(t.path(), name) })
	})
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

// batchProgram returns a program of n reads and, if write is set, one write in their middle. No two
// reads are the same, because the host refuses what an agent repeats too often. The program returns
// only their number, which is what programs are good for.
func batchProgram(n int, write, directory string) string {
	reads := func(from, n int) string {
		return fmt.Sprintf("await Promise.all(Array.from({ length: %d }, (_, i) => %s({ path: %s, head: i + %d })))",
			n, inPrograms[verbRead].function, encode(path.Join(directory, batchFile)), from)
	}
	const end = ";\nreturn `${all.length} reads`;"
	if write == "" {
		return "const all = " + reads(1, n) + end
	}
	first := n - n/2
	return fmt.Sprintf("const all = %s;\nawait %s(%s);\nall.push(...%s)", reads(1, first), inPrograms[verbWrite].function,
		encode(map[string]string{"path": write, "content": fmt.Sprintf("%d reads\n", first)}), reads(first+1, n/2)) + end
}
