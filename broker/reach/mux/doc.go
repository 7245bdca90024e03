// Package mux carries many streams over the bulk lane of a link: the connections of a
// container's program to the host's proxies. It is the only user of go-yamux.
//
// The first byte of a stream says its kind. The container opens the streams; the host
// accepts them and decides by the kind which proxy gets them. A kind that is not known ends
// the session.
//
// The container's end may be hostile. Streams are counted by kind, and one too many is
// reset. What has come and nobody has read is counted over all streams together (intake):
// the session reads on when somebody has read, and resets the stream with the most of it when
// nobody does. So an end that does not read, that asks without end or that opens what it can
// stops its own session, and costs the host no more than a few MiB.
package mux
