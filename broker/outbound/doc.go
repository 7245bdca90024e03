// Package outbound makes web requests on the host for a tool server that has no
// network of its own.
//
// A request is a GET of one URL and of what it redirects to. Before each hop
// the caller's judge is asked about exactly the URL that will be requested.
// The name of its host is resolved once; every address must be a public one,
// and the connection is made to one of them, not to the name, so that a name
// which changes its address between the look and the connection gains nothing.
// Redirects, time, headers and the body are bounded. No credential, cookie or
// proxy of the host takes part.
package outbound
