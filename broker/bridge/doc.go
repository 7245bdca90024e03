// Package bridge is what ironcurtain-mux-bridge does in an agent's container.
// It carries the agent's two ways out, which the agent knows as a web proxy on
// the loopback interface and as an MCP server on standard input and output, to
// the two sockets of the host. It holds nothing secret and decides nothing: what
// it passes on is judged on the host.
//
// The host can go away, because its process was killed, and come back on the
// same sockets. The agent is not to notice more than it must:
//
//   - A connection to the model waits for the host for a while (Proxy) and is
//     then closed; agents repeat their requests.
//   - The connection to the tools (MCP) is made anew as often as it takes. The
//     agent's initialize is repeated to the new host, with an answer that the
//     agent does not see. Requests that change nothing are repeated. A tool call
//     that was under way is not: it ends with a result that says so, because
//     whether it took effect cannot be known. One that is made while nobody
//     listens waits, and is sent once.
//   - A tool call that waited for a person is offered to the new host, with the
//     ticket that the old one gave it. The host carries it on only if its records
//     show that it was never let through; else it ends like any other. So the
//     agent simply waits on.
package bridge
