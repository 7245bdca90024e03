// Package remote connects to MCP servers over HTTP (the "Streamable HTTP" transport).
//
// To its users, a Conn looks like a process: they write lines and read lines. A Conn sends each line
// as one HTTP request, and forwards each message of the responses as one line. So the same code
// serves servers that are processes and servers over HTTP, with the same limits. A request is sent
// twice only if the server rejected the login of the first one.
package remote
