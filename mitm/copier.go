package mitm

import (
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/leak"
)

const (
	copyBuffer = 32 << 10
	// frameRoom is the room before a chunk: for its size in hex and CR LF and, before
	// the first chunk, for the head of the answer if that is not long.
	frameRoom = 1 << 10
)

// buffers are reused for all answers.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, frameRoom+copyBuffer+leak.MaxOpen+64)
	return &b
}}

// errTooMuch ends an answer of an approved domain that is too large.
var errTooMuch = errors.New("more bytes than one answer may have")

// copier copies a body chunk by chunk: one read, one scan for the credential, one write.
// It holds back only the few bytes at the end of a read that could be the beginning of
// the credential.
type copier struct {
	s    *stream
	body io.Reader
	head []byte // of the answer, to be written with the first chunk
	buf  *[]byte
	much int      // large reads in a row
	size [16]byte // memory for the size before a chunk
}

// muchBytes is the size from which a read is large: the answer then comes at full speed.
const muchBytes = 8 << 10

func (c *copier) takeHead() []byte {
	h := c.head
	c.head = nil
	return h
}

func (c *copier) release() {
	c.s.x.a.more = false
	_ = c.s.clientError(c.s.x.a.c.NetConn().(*tunnelConn).release())
	if c.buf != nil {
		buffers.Put(c.buf)
	}
}

// run copies to the end of the body. It returns whether the answer is complete.
func (c *copier) run() bool {
	c.buf = buffers.Get().(*[]byte)
	buf, held := *c.buf, 0 // held is the number of bytes held back, which are at frameRoom
	for {
		n, err := c.body.Read(buf[frameRoom+held : frameRoom+held+copyBuffer])
		if c.s.x.g.web && c.s.x.a.sent+int64(n) > c.s.x.p.limits.DomainBytes {
			err = errTooMuch
		}
		if ended := c.s.ctx.Err(); err != nil && ended != nil {
			err = ended // the body ended only because we closed the connection
		}
		if c.much++; n < muchBytes {
			c.much = 0
		}
		last := errors.Is(err, io.EOF)
		c.s.x.a.more = c.much > 2 && err == nil
		before := c.s.watch.before()
		from := frameRoom - copy(buf[frameRoom-len(before):], before)
		safe, keep := c.s.watch.scan(buf[from:frameRoom+held+n], last || err != nil)
		c.s.noteLeaks()
		if !c.emit(safe, last) {
			return false
		}
		held = copy(buf[frameRoom:], keep)
		switch {
		case last:
			return true
		case err != nil:
			c.s.denial = c.broken(err)
			return false
		}
	}
}

// emit writes safe bytes as one chunk.
func (c *copier) emit(safe []byte, last bool) bool {
	x := c.s.x
	if len(safe) == 0 && !last && c.head == nil {
		return true
	}
	frame := c.takeHead()
	if frame == nil {
		frame = c.size[:0]
	}
	if len(safe) > 0 {
		frame = strconv.AppendInt(frame, int64(len(safe)), 16)
		frame = append(frame, "\r\n"...)
		if buf := *c.buf; len(frame) <= frameRoom && &safe[0] == &buf[frameRoom] {
			return c.emitInPlace(frame, safe, last)
		}
		frame = append(frame, safe...)
		frame = append(frame, "\r\n"...)
	}
	if last {
		frame = append(frame, "0\r\n\r\n"...)
	}
	if !c.s.clientError(x.a.write(frame)) {
		return false
	}
	c.account(safe)
	return true
}

// emitInPlace writes the chunk from the buffer without a copy. The frame's end
// overwrites the bytes after the chunk, which may be held back, so emitInPlace restores
// them afterwards.
func (c *copier) emitInPlace(size, safe []byte, last bool) bool {
	buf := *c.buf
	from, to := frameRoom-len(size), frameRoom+len(safe)
	tail := "\r\n"
	if last {
		tail = "\r\n0\r\n\r\n"
	}
	var saved [8]byte
	n := copy(saved[:len(tail)], buf[to:])
	copy(buf[from:], size)
	copy(buf[to:], tail)
	err := c.s.x.a.write(buf[from : to+len(tail)])
	copy(buf[to:to+n], saved[:n])
	if !c.s.clientError(err) {
		return false
	}
	c.account(safe)
	return true
}

// account counts bytes that were sent.
func (c *copier) account(safe []byte) {
	c.s.x.a.sent += int64(len(safe))
	c.s.meter.Write(safe)
}

// broken returns why an answer is incomplete. The agent sees the connection close within
// the answer.
func (c *copier) broken(err error) *denial {
	status := c.s.x.rec.Status
	var d *denial
	switch {
	case errors.Is(err, errTooMuch):
		d = deny(status, ReasonTooLarge, "the answer is larger than an approved domain may send")
	case c.s.ctx.Err() != nil:
		d = failure(status, ReasonClientGone, "the client went away during the answer")
	case isTimeout(err):
		d = failure(status, ReasonTimeout, "the upstream was silent for too long")
	default:
		d = failure(status, ReasonBroken, "the upstream broke off its answer")
	}
	d.detail = d.message + ": " + c.s.mask(err.Error())
	return d
}
