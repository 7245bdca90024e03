// Package bridge is what ironcurtain-mux-bridge does in an agent's container. It connects the agent
// with the two sockets of the host: the agent uses them as a web proxy on the loopback interface and
// as an MCP server on standard input and output. The bridge has no secret and decides nothing: the
// host judges everything that passes.
//
// It also carries connections the other way, to ports of the container that the person has opened on
// the host (Ports).
//
// Before the agent starts, the bridge reports to the host what the container looks like from inside
// (Look), and waits for the host's go. Where the host's sockets work in the container, the bridge
// reports on one of them (Report); then it starts a child process (Proxy) and becomes the agent
// (Run).
//
// Where they do not work, because the engine runs elsewhere, the bridge listens in place of the host
// and stays the main process (Keep). The host connects by the engine's exec API, which executes
// Carry; that hands its input and output over to the keeper, as a carrier. A carrier carries a link
// (broker/reach/link), with the agent's terminal and a stream for each connection
// (broker/reach/mux). A link outlives its carriers. The keeper outlives its links, and keeps the end
// of the agent's output for the next host. Where the engine does not see the host's files, the host
// synchronizes the container's, over streams that the keeper serves (broker/reach/treesync).
//
// The host's process can be killed, and a new one can listen on the same sockets. The agent notices
// as little of that as possible:
//
//   - A connection to the model waits for the host for a while (Proxy) and is then closed; agents
//     repeat their requests.
//   - The connection to the tools (MCP) is opened again as often as necessary. The bridge repeats the
//     agent's initialize to the new host, and drops the answer. It repeats requests that change
//     nothing. It does not repeat a tool call that was under way: the call ends with a result that
//     says so, because nobody knows whether it took effect. A call that is made while nobody listens
//     waits, and is sent once.
//   - A tool call of which the host has said that nothing is done is sent to the next host. A host
//     says so while it waits for the end of other calls before an upgrade.
//   - A tool call that waited for a person is offered to the new host, with the ticket that the old
//     one gave it. The host continues it only if its records show that it was never allowed; else it
//     ends like any other. So the agent just keeps waiting.
package bridge
