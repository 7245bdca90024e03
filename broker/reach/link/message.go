package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is the type of a message of the typed lane.
type Kind byte

// The kinds of messages.
const (
	Keys   Kind = iota + 1 // to the container: bytes for the agent's terminal
	Output                 // to the host: bytes from that terminal
	Size                   // to the container: the size of the terminal, as SizeData
	Seen                   // to the host: the report
	Go                     // to the container: the agent may start or go on, as GoData
	Exit                   // to the host: the agent has ended, as ExitData
	Past                   // to the host: older output follows, as PastData
)

// MaxData is how many bytes a message may carry.
const MaxData = 64 << 10

// messageHead is a kind and the length of the data.
const messageHead = 5

// Message is a message of the typed lane.
type Message struct {
	Kind Kind
	Data []byte
}

var errMessage = errors.New("a malformed message was received")

// fits reports whether a message of the kind can have n bytes.
func (k Kind) fits(n int) bool {
	switch k {
	case Keys, Output, Seen:
		return n <= MaxData
	case Go:
		return n == 12
	case Size, Exit:
		return n == 4
	case Past:
		return n == 16
	default:
		return false
	}
}

// WriteMessage writes a message with one call of Write.
func WriteMessage(w io.Writer, m Message) error {
	if !m.Kind.fits(len(m.Data)) {
		return fmt.Errorf("write message: a message of kind %d cannot have %d bytes", m.Kind, len(m.Data))
	}
	b := make([]byte, messageHead, messageHead+len(m.Data))
	b[0] = byte(m.Kind)
	binary.BigEndian.PutUint32(b[1:], uint32(len(m.Data)))
	if _, err := w.Write(append(b, m.Data...)); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// ReadMessage reads one message and nothing after it. It returns io.EOF when r ends before a
// message.
func ReadMessage(r io.Reader) (Message, error) {
	var b [messageHead]byte
	if _, err := io.ReadFull(r, b[:]); errors.Is(err, io.EOF) {
		return Message{}, io.EOF
	} else if err != nil {
		return Message{}, fmt.Errorf("read message: %w", err)
	}
	k, n := Kind(b[0]), binary.BigEndian.Uint32(b[1:])
	if n > MaxData || !k.fits(int(n)) {
		return Message{}, fmt.Errorf("read message: %w: kind %d with %d bytes", errMessage, k, n)
	}
	m := Message{Kind: k, Data: make([]byte, n)}
	if _, err := io.ReadFull(r, m.Data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, fmt.Errorf("read message: %w", err)
	}
	return m, nil
}

// SizeData is the data of a Size. Impossible numbers become the nearest possible ones.
func SizeData(cols, rows int) []byte {
	in := func(n int) uint16 { return uint16(min(max(n, 1), 1<<16-1)) }
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, in(cols)), in(rows))
}

// ParseSize reads the data of a Size.
func ParseSize(b []byte) (cols, rows int, err error) {
	if len(b) != 4 {
		return 0, 0, fmt.Errorf("read size: it has %d bytes", len(b))
	}
	cols, rows = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if cols == 0 || rows == 0 {
		return 0, 0, fmt.Errorf("read size: %d×%d is not a size", cols, rows)
	}
	return cols, rows, nil
}

// GoData is the data of a Go: the size of the terminal, and how many bytes of the agent's output
// the host has received, over all links.
func GoData(cols, rows int, have uint64) []byte {
	return binary.BigEndian.AppendUint64(SizeData(cols, rows), have)
}

// ParseGo reads the data of a Go.
func ParseGo(b []byte) (cols, rows int, have uint64, err error) {
	if len(b) != 12 {
		return 0, 0, 0, errMessage
	}
	return int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:])), binary.BigEndian.Uint64(b[4:]), nil
}

// ExitData is the data of an Exit.
func ExitData(code int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(code))) }

// ParseExit reads the data of an Exit.
func ParseExit(b []byte) (code int, err error) {
	if len(b) != 4 {
		return 0, fmt.Errorf("read exit code: it has %d bytes", len(b))
	}
	return int(int32(binary.BigEndian.Uint32(b))), nil
}

// PastData is the data of a Past: how many bytes of output are lost, and how many bytes of older
// output follow.
func PastData(lost, follow uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, lost), follow)
}

// ParsePast reads the data of a Past.
func ParsePast(b []byte) (lost, follow uint64, err error) {
	if len(b) != 16 {
		return 0, 0, fmt.Errorf("read past: it has %d bytes", len(b))
	}
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), nil
}
