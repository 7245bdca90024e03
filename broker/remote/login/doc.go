// Package login logs the person in at MCP servers that ask for it (OAuth, as MCP's
// authorization specification of 2025-06-18 has it), and keeps and renews the tokens.
//
// The server says by its metadata (RFC 9728) which authorization server it trusts, and that
// one says by its own (RFC 8414) where people log in. This program introduces itself there
// (RFC 7591) unless the person has a client id, and shows the person an address. The answer
// comes to a port of this machine, with a state that only this login knows, and its code is
// good for a token only together with a secret of this login (PKCE) and for this server
// alone (RFC 8707). All that servers send is bounded and checked.
package login
