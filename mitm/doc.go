// Package mitm is the only way from an agent to the provider of its model.
//
// The agent has a sentinel: a fake credential in the format of a real one. It sends HTTP
// CONNECT to a socket of this package. The proxy answers TLS in the provider's name with
// a certificate of an authority made for this one session, reads the request, judges it,
// and sends a new request with the real credential. The answer streams back and is
// scanned for the real credential.
//
// A request passes these checks in this order, and each fails closed:
//
//  1. The head, read by a strict parser of our own (head.go): a head that two parsers
//     could read differently is refused, not repaired.
//  2. CONNECT (connect.go): the raw target must name a listed host and port 443, or a
//     package registry at its own port.
//  3. TLS (tunnel.go): the server name is that host or absent, HTTP/1.1 only. Only a
//     registry at http:// has none.
//  4. The request-target, the Host field, the endpoint table (target.go).
//  5. The credential (credential.go): exactly one, exactly where it belongs.
//  6. The body (package body): server-side tools and fetches are removed.
//  7. Everything else that may refuse it (clearance.go): a person, the budget, the source
//     of credentials and, last, the audit: the decision is durable before anything
//     is forwarded.
//  8. The upstream (forward.go): a new request is built from judged parts and sent over an
//     HTTP/1.1 client of our own (upstream.go), which reads the answer as strictly as a
//     request. The answer streams back (copier.go) and is scanned for the real credential
//     (leak.go, package leak).
//
// GitHub's API (github.go) is one more provider, without a list of endpoints: reading
// passes, and a person is asked about everything else and sees the whole body.
//
// Every decision is one Record, and every refusal leaves exactly one. This includes
// refusals that an HTTP server would answer without a record: bad framing, oversized
// heads, failed handshakes, reads that time out.
package mitm
