// Package bridge is what ironcurtain-mux-bridge does in an agent's container.
// It carries the agent's two ways out, which the agent knows as a web proxy on
// the loopback interface and as an MCP server on standard input and output, to
// the two sockets of the host. It has no secret and decides nothing: the host judges
// everything that it passes on.
//
// It also carries connections the other way, to ports of the container that the person has
// opened on the host (Ports).
//
// Before the agent starts, the host is told what the container looks like from inside (Look), and
// says go. Where the host's sockets lead into the container, it is told so on one of them
// (Report); then the bridge leaves a process of its own behind (Proxy) and becomes the agent (Run).
//
// Where they do not, because the engine runs elsewhere, the bridge listens in the host's place
// and stays the main process (Keep). The host comes by the engine's exec API: each time that
// runs Carry, which hands its input and output over, as a carrier. On it there is a link
// (broker/reach/link), with the terminal of the agent and the streams that the connections
// become (broker/reach/mux). The link outlives its carriers, and the keeper its links: it keeps
// the end of the agent's output for the next host. Where the engine does not see the host's files,
// the host keeps the container's equal to them, over streams of its own that the keeper serves
// (broker/reach/treesync).
//
// The host's process can be killed, and a new one can listen on the same sockets. The
// agent notices as little of that as possible:
//
//   - A connection to the model waits for the host for a while (Proxy) and is
//     then closed; agents repeat their requests.
//   - The connection to the tools (MCP) is opened again as often as necessary. The
//     bridge repeats the agent's initialize to the new host, and drops the answer. It
//     repeats requests that change nothing. It does not repeat a tool call that was
//     under way: the call ends with a result that says so, because nobody knows
//     whether it took effect. A call that is made while nobody listens waits, and is
//     sent once.
//   - A tool call of which the host has said that nothing is done is sent to the next
//     host. The host says so while it waits for the end of other calls, to become
//     another program.
//   - A tool call that waited for a person is offered to the new host, with the
//     ticket that the old one gave it. The host carries it on only if its records
//     show that it was never let through; else it ends like any other. So the
//     agent simply waits on.
package bridge
