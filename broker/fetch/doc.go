// Package fetch is an MCP server with one tool, http_fetch: a web page as text.
//
// The server has no network and needs none. For each call it asks its client,
// which is the policy proxy, to make the request that the call was let through
// for; the proxy judges every redirect, resolves and pins addresses, and hands
// back what came. What is left to do here is to take hostile bytes apart: their
// character set, their HTML. So this runs in a process and a sandbox of its own.
package fetch
