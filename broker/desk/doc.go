// Package desk hands connections to a process that cannot make any.
//
// A locked process (internal/confine) has no sockets but those that it was started with. The
// desk is one of them. The host first sends the process its settings over it; later the
// process asks there for connections to its model, one byte for each, and gets one end of a
// connection that the host has made for it. It can ask for nothing else: to what it is
// connected only the host decides.
//
//	to the process    settings (JSON), then for each request a descriptor, or why there is none
//	from the process  one byte a request
package desk

import "errors"

// maxMessage is the size of the longest message, in bytes: that of the settings.
const maxMessage = 128 << 10

// handed is the message that comes with a descriptor.
const handed = "\x00"

// ErrClosed means that the other side of the desk has gone.
var ErrClosed = errors.New("the host has gone")
