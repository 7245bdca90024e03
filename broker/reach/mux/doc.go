// Package mux carries many streams over the bulk lane of a link: the connections of a
// container's program to the host's proxies. It is the only user of go-yamux.
//
// The first byte of a stream says its kind. The container opens the streams; the host
// accepts them and decides by the kind which proxy gets them. A kind that is not known ends
// the session.
package mux
