// Package broker is the trusted process: it owns the sessions, the two
// sockets each of them may speak through, the queue of calls that wait for a
// person, and the audit that must be on disk before anything takes effect.
//
// The life of one tool call tells most of it. An agent in a container writes
// a line to proxy.sock; mcpproxy decodes it strictly and asks policy for a
// verdict on canonical arguments. Allowed: an audit record is made durable and
// the judged arguments, nothing else, go to the MCP server in its sandbox.
// Denied: the agent gets an error that names the rule. Escalated: the call
// becomes one item in approval, a person decides it once, the policy judges the
// call again, and only then does it go on.
//
// User interfaces see all of this through API and nothing else. Every method
// of it takes a context and plain data and returns plain data or a stream, so
// the broker can move behind a socket without its callers noticing.
package broker
