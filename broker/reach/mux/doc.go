// Package mux carries many streams over the bulk lane of a link: the connections of a
// container's program to the host's proxies, and the host's to the container's copies of its
// files. It is the only user of go-yamux.
//
// The first byte of a stream says its kind. The container opens streams of all kinds but Files;
// the host accepts them and decides by the kind which proxy gets them. The host opens Files. A kind
// that is not known, or not the other end's to open, ends the session.
//
// The container's end may be hostile. Streams are counted by kind, and one too many is
// reset. One that does not say its kind holds up no other. What has come and nobody has read is
// counted over all streams together (intake), also of those that the host has opened:
// the session reads on when somebody has read, and resets the stream with the most of it when
// nobody does. So an end that does not read, that asks without end or that opens what it can
// stops its own session, and costs the host no more than a few MiB.
package mux
