// Package remote connects to MCP servers that are not processes of this machine but are
// reached over HTTP (the "Streamable HTTP" transport).
//
// A Conn looks like a process: lines are written to it, and lines are read from it. It
// sends each line as a request of its own and passes on each message of the answers as a
// line. So the code that speaks with processes speaks with such servers too, under the same
// limits. A request is never sent twice, unless the server refused to look at it because
// of its login.
package remote
