// Package mux multiplexes many streams over the bulk lane of a link: the container's connections to
// the host's proxies, and the host's connections to the container's files. It is the only user of
// go-yamux.
//
// The first byte of a stream is its kind. The container opens streams of all kinds but Files, and
// the host chooses the proxy by the kind. The host opens Files. An unknown kind, or one that the
// other end may not open, ends the session.
//
// The container may be hostile. Streams are counted by kind, and one too many is reset. A stream
// that sends no kind delays no other. Unread bytes are counted over all streams together (intake),
// including those that the host has opened: at the limit the session stops receiving until somebody
// reads, and if nobody does, it resets the stream with the most unread bytes. So a container that
// does not read, that sends requests without end or that opens as many streams as it can stops its
// own session, and costs the host no more than a few MiB.
package mux
