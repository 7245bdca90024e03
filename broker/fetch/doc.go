// Package fetch is an MCP server with one tool, http_fetch: a web page as text.
//
// The server has no network and needs none. For each call it asks its client, the
// policy proxy, to make the call's request. The proxy judges every redirect, resolves
// and pins addresses, and returns the response. This package only parses hostile bytes:
// their character set and their HTML. So it runs in a process and a sandbox of its own.
package fetch
