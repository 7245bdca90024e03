// Package mcpproxy stands between the tools and an agent that is not trusted.
//
// Toward the agent it is an MCP server: it takes several connections, which share
// nothing, and bounds each line before it is looked at. Toward the MCP servers it is
// their only client; it starts each in its sandbox, pins what they offer and starts
// them again when they die. Servers whose tools are known (Known) run only while calls
// need them.
//
// A tool call never passes through as its original bytes. The line is decoded strictly, the policy
// judges the arguments and returns them in canonical form, and new parameters are made from these
// alone. An audit record is on the disk before they leave. A call that a person must decide waits
// in the approval queue and is then judged again. It is carried out only if it still means exactly
// what was shown. Anything that is not understood or cannot be recorded is refused.
//
// A call that needs more of the machine than its server has, such as a file outside the workspace,
// is carried out on a stage by another process of the server. The process is started while the call
// waits, and ended after the call. If the call could not take effect there either, it is refused
// before anybody is asked.
//
// Where the engine does not share this machine's files, the agent and the tools have separate
// copies of the workspace (Config.Workspace). The agent's changes are fetched before a call is
// judged, and the call's changes are returned before the agent has the answer (barrier).
//
// An agent can be offered one more tool, proxy/execute, or this one alone. It runs a program
// that makes calls (broker/codemode). Each of them is judged, recorded, decided and carried
// out like a call that the agent makes by itself.
//
// A call that waits when the process is killed can be resumed with its ticket, by a
// proxy of the next process. It is carried out like a new call, and gets the answer to
// the former call only if both are exactly the same.
package mcpproxy
