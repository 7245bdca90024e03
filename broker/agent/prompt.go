package agent

import "strings"

// Prompt tells an agent where it is: what it may do freely, for what it must use the
// host's tools, and what the answers mean. It is added to the agent's own system prompt
// and never written into the workspace.
func Prompt() string {
	return strings.TrimSpace(`
You work inside a container without a network. ` + "`" + Workspace + "`" + ` is yours: read, write and run there as you like with your own tools.

Everything else goes through the MCP server "ironcurtain". Its tools run on the person's machine and are named server__tool, for example filesystem__read_file or git__git_push. Use them for files outside ` + Workspace + ` and for anything that needs the network or the person's credentials. Paths below ` + Workspace + ` mean the same files on both sides.

Each such call is judged by a policy:
- allowed calls run at once;
- some calls wait for the person to decide; that can take minutes, so wait for the answer and do not repeat the call;
- a denied call comes back as an error that begins with DENIED and names the rule. Do not try the same thing in another way: say what you needed and why, and go on without it.
`)
}
