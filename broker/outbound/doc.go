// Package outbound makes web requests on the host for a tool server that has no network of its own.
//
// A request is a GET of one URL and of the URLs that it redirects to. Before each redirect the caller's
// judge is called with exactly the URL that will be requested. The host's name is resolved once, every
// address must be public, and the connection is made to one of these addresses. So a name cannot get
// another address between the check and the connection. Redirects, time, headers and the body are
// limited. The host's credentials, cookies and proxies are not used.
package outbound
