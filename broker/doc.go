// Package broker is the trusted process: it owns the sessions, the two
// sockets each of them may speak through, the queue of calls that wait for a
// person, and the audit that must be on disk before anything takes effect.
//
// The life of one tool call explains most of it. An agent in a container writes
// a line to proxy.sock; mcpproxy decodes it strictly and asks policy for a
// verdict on canonical arguments. Allowed: an audit record is made durable and
// the judged arguments, nothing else, go to the MCP server in its sandbox.
// Denied: the agent gets an error that names the rule. Escalated: the call
// becomes one item in approval, a person decides it once, the policy judges the
// call again, and only then does it go on.
//
// Package session runs one session, from the start of its agent until only its directory
// is left. The broker opens sessions, finds the session that a request is for, and owns
// what all sessions share: the queue, the grants, the receipts, the container engine, and
// the agents that an earlier process left running.
//
// User interfaces use API and nothing else. Each of its methods takes a context and
// plain data and returns plain data or a stream, so the broker can move behind a socket
// without its callers noticing.
package broker
