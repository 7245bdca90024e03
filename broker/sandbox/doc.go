// Package sandbox runs the programs of MCP servers so that a mistake or a
// trick inside one of them stays there.
//
// The policy judges what a tool call says; a sandbox bounds what a server can
// do. Each server runs under the sandbox runtime (srt) in namespaces of its
// own, with its own settings: it can write to the session's directory, a
// private directory and what its configuration adds, cannot read the person's
// keys or the program's state, and has no network unless hosts are listed. Its
// environment is built from scratch. Before a server starts, its sandbox is
// tested from the inside: a write outside and a connection to the host must
// both fail, and the host checks that they did.
package sandbox
