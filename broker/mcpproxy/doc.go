// Package mcpproxy stands between the tools and an agent that is not trusted.
//
// Toward the agent it is an MCP server: any number of connections, each with
// its own session, each line bounded before it is looked at. Toward the MCP
// servers it is their only client; it starts each in its sandbox, pins what
// they offer and starts them again when they die. Servers whose tools are known
// (Known) run only while calls need them.
//
// A tool call passes through in one direction only as what was understood of
// it. The line is decoded strictly, the policy judges the arguments and
// returns them in canonical form, and from these alone new parameters are
// made. An audit record is on the disk before they leave. A call that a person
// must decide waits in the approval queue and is then judged again: only if it
// still means exactly what was shown does it go on. Whatever is not understood
// or cannot be recorded is refused.
//
// A call that waits when the process is killed can be resumed with its ticket by a
// proxy of the next one: it is carried out like a new call, and takes the answer of
// the former one only if it is the very same.
package mcpproxy
