// Package login logs the person in at MCP servers that ask for it (OAuth, as MCP's
// authorization specification of 2025-06-18 has it), and keeps and renews the tokens.
//
// The server's metadata (RFC 9728) name the authorization server that it trusts, whose own
// metadata (RFC 8414) say where people log in. This program registers there (RFC 7591)
// unless the person has a client id, and shows the person an address. The answer comes to a
// port of this machine, with a state that only this login knows. Its code gets a token only
// together with a secret of this login (PKCE), and the token is for this server alone
// (RFC 8707). All that servers send is bounded and checked.
package login
