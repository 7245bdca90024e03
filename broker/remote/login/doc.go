// Package login logs the person in at MCP servers that require a login (OAuth, as in MCP's
// authorization specification of 2025-06-18), and keeps and renews the tokens.
//
// The server's metadata (RFC 9728) names the authorization server that it trusts, and the
// authorization server's metadata (RFC 8414) says where people log in. This program registers there
// (RFC 7591) unless the person has a client id, and shows the person an address. The answer comes to
// a port of this machine, with a state that only this login knows. The code in the answer is worth a
// token only together with a secret of this login (PKCE), and the token is for this server alone
// (RFC 8707). Everything that servers send is bounded and checked.
package login
