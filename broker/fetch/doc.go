// Package fetch is an MCP server with one tool, http_fetch, which returns a web page as text.
//
// The server has no network and needs none. For each call it asks its client, the policy proxy, to
// make the web request. The proxy judges every redirect, resolves and pins addresses, and returns
// the response. This package only parses hostile bytes: character sets and HTML. So it runs in a
// process and a sandbox of its own.
package fetch
