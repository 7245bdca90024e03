package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kinds of the engine's frames.
const (
	frameOut    = 1 // standard output
	frameErr    = 2 // standard error
	frameSystem = 3 // an error message of the engine itself
)

const (
	frameHead  = 8        // bytes: the kind, three zeros, the length as 32 bits, big-endian
	frameLimit = 16 << 20 // bytes of content in one frame
	// demuxBuffer is the size of the buffer for reading frames. The engine's are up to
	// 32 KiB long.
	demuxBuffer = 64 << 10
	// complaintLimit is how many bytes of standard error are kept, and the longest message that
	// the engine may send.
	complaintLimit = 4 << 10
)

// errFrames means that the engine did not send a sequence of frames.
var errFrames = errors.New("the engine sent something other than a program's output")

// demux reads the standard output of a program without a terminal from the engine's frames, and
// keeps the beginning of its standard error. After a deadline, reading can continue; any other error
// is final.
type demux struct {
	in *bufio.Reader // of at least complaintLimit bytes
	// refused is called with the content of the first frame of standard output if that looks like a
	// message of the engine. It returns an error if it is one.
	refused func(text []byte) error

	kind      byte
	left      int  // bytes left of the current frame
	begun     bool // the first byte of standard output has been read
	complaint []byte
}

// Read returns what the program wrote. io.EOF means that its output has ended, and that there was
// some.
func (d *demux) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.left == 0 || d.kind != frameOut {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	if !d.begun {
		if err := d.first(); err != nil {
			return 0, err
		}
		d.begun = true
	}
	n, err := d.in.Read(p[:min(len(p), d.left)])
	d.left -= n
	return n, cut(err)
}

// next reads the head of a frame, or some of a frame that is not of standard output.
func (d *demux) next() error {
	if d.left > 0 {
		return d.complain()
	}
	head, err := d.in.Peek(frameHead)
	switch {
	case errors.Is(err, io.EOF) && len(head) == 0:
		return d.end()
	case err != nil:
		return cut(err)
	}
	length := binary.BigEndian.Uint32(head[4:])
	if head[0] < frameOut || head[0] > frameSystem || head[1]|head[2]|head[3] != 0 || length > frameLimit {
		return fmt.Errorf("%w: %x", errFrames, head)
	}
	d.kind, d.left = head[0], int(length)
	_, err = d.in.Discard(frameHead)
	return err
}

// complain keeps the beginning of standard error and skips the rest.
func (d *demux) complain() error {
	_, err := d.in.Peek(1)
	if err != nil {
		return cut(err)
	}
	some, err := d.in.Peek(min(d.in.Buffered(), d.left))
	if err != nil {
		return err
	}
	d.complaint = append(d.complaint, some[:min(len(some), complaintLimit-len(d.complaint))]...)
	d.left -= len(some)
	if _, err = d.in.Discard(len(some)); err != nil {
		return err
	}
	if d.kind == frameSystem && d.left == 0 {
		return because(ErrEngineRefuses, "%s", plain(string(d.complaint), complaintLimit))
	}
	return nil
}

// first checks the beginning of standard output: if the engine could not start the program, it says
// so there, as a line of text.
func (d *demux) first() error {
	if d.left > complaintLimit || d.refused == nil {
		return nil
	}
	whole, err := d.in.Peek(d.left)
	if err != nil {
		return cut(err)
	}
	if !bytes.HasSuffix(whole, []byte("\r\n")) {
		return nil
	}
	return d.refused(whole)
}

// end returns the error for a connection that ended between two frames.
func (d *demux) end() error {
	switch {
	case d.begun:
		return io.EOF
	case len(d.complaint) == 0:
		return errors.New("the program in the container ended without any output")
	}
	return fmt.Errorf("the program in the container ended: %s", plain(string(d.complaint), complaintLimit))
}

// cut turns io.EOF, the end of the connection within a frame, into io.ErrUnexpectedEOF.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
