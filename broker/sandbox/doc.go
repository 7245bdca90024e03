// Package sandbox confines the programs of MCP servers, so that a faulty or malicious server cannot
// do harm outside its sandbox.
//
// The policy judges what a tool call says; a sandbox limits what a server can do. Each server runs
// under the sandbox runtime (srt) in namespaces of its own, with its own settings. It can write to
// the session's directory, a private directory and the paths that its configuration adds. It cannot
// read the person's keys or the program's state, and has no network unless hosts are listed. Its
// environment is built from scratch. Before a server starts, probes test its sandbox from the
// inside: a write outside and a connection to the host must both fail, and the host checks that they
// did.
package sandbox
