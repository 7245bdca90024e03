package treesync

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a tag byte, the length of the body in four bytes, and the body. In the body, numbers
// are unsigned varints, and texts a length and bytes.
const (
	headSize = 5
	maxFrame = 64 << 10
)

// errMalformed means that the other end broke the protocol.
var errMalformed = errors.New("a malformed message")

// wire reads and writes frames. Each direction has one user at a time.
type wire struct {
	r    *bufio.Reader
	w    *bufio.Writer
	body []byte // of the last frame that was read
}

func newWire(conn io.ReadWriter) *wire {
	return &wire{r: bufio.NewReaderSize(conn, 32<<10), w: bufio.NewWriterSize(conn, 32<<10)}
}

// write buffers a frame until the next flush, or sends it when the buffer is full.
func (w *wire) write(tag byte, body []byte) error {
	var head [headSize]byte
	head[0] = tag
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
	if _, err := w.w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.w.Write(body)
	return err
}

// read returns the next frame. Its fields are valid until the next read. io.EOF means that the
// other end closed between two frames.
func (w *wire) read() (tag byte, f *fields, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: %d bytes at once", errMalformed, n)
	}
	if cap(w.body) < int(n) {
		w.body = make([]byte, n, max(int(n), 4096))
	}
	w.body = w.body[:n]
	if _, err := io.ReadFull(w.r, w.body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return head[0], &fields{rest: w.body}, nil
}

// expect reads a frame, which must have this tag.
func (w *wire) expect(tag byte) (*fields, error) {
	got, f, err := w.read()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && got != tag {
		err = fmt.Errorf("%w: %q for %q", errMalformed, got, tag)
	}
	return f, err
}

// fields parses a frame's body. After a malformed field all others are zero.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() uint64 {
	n, size := binary.Uvarint(f.rest)
	if f.bad || size <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

// below returns a number that is less than bound.
func (f *fields) below(bound uint64) uint64 {
	n := f.number()
	if n >= bound {
		f.bad = true
		return 0
	}
	return n
}

func (f *fields) bytes(n uint64) []byte {
	if f.bad || n > uint64(len(f.rest)) {
		f.bad = true
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) text() string { return string(f.bytes(f.number())) }

// end fails if a field was malformed, or if there is something after the last one.
func (f *fields) end() error {
	if f.bad || len(f.rest) > 0 {
		return errMalformed
	}
	return nil
}

// more reports whether there are more fields.
func (f *fields) more() bool { return !f.bad && len(f.rest) > 0 }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// mostSize bounds every size that is sent.
const maxSize = 1 << 50

// appendNode writes a node: its kind, and the members that this kind has.
func appendNode(b []byte, n node) []byte {
	b = append(b, byte(n.kind))
	switch n.kind {
	case file:
		b = binary.AppendUvarint(b, uint64(n.perm))
		b = binary.AppendUvarint(b, uint64(n.size))
		b = append(b, n.digest[:]...)
	case directory:
		b = binary.AppendUvarint(b, uint64(n.perm))
	case link:
		b = binary.AppendUvarint(b, uint64(n.size))
		b = append(b, n.digest[:]...)
	case large:
		b = binary.AppendUvarint(b, uint64(n.size))
	default:
	}
	return b
}

func (f *fields) node() node {
	var n node
	if k := f.bytes(1); k != nil {
		n.kind = kind(k[0])
	}
	switch n.kind {
	case nothing, special, unreadable:
	case file:
		n.perm = uint16(f.below(0o1000))
		n.size = int64(f.below(maxSize))
		copy(n.digest[:], f.bytes(uint64(len(n.digest))))
	case directory:
		n.perm = uint16(f.below(0o1000))
	case link:
		n.size = int64(f.below(maxPath + 1))
		copy(n.digest[:], f.bytes(uint64(len(n.digest))))
	case large:
		n.size = int64(f.below(maxSize))
	default:
		f.bad = true
	}
	if f.bad {
		return node{}
	}
	return n
}
