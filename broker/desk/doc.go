// Package desk hands connections to a process that cannot make any.
//
// A locked process (internal/confine) has only the sockets that it was started with. The desk is one of
// them. Over it the host first sends the process its settings. Later the process requests connections to
// its model, and the host makes each and sends its descriptor. The process cannot choose to what it is
// connected.
//
//	to the process    settings (JSON), then for each request a descriptor or an error's text
//	from the process  one byte a request
package desk

import "errors"

// maxMessage is the size of the longest message, the settings, in bytes.
const maxMessage = 128 << 10

// descriptorSent is the message that accompanies a descriptor.
const descriptorSent = "\x00"

// ErrClosed means that the host has closed the desk.
var ErrClosed = errors.New("the host has closed the desk")
