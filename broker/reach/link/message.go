package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind says what a message of the typed lane is for.
type Kind byte

// The kinds of messages.
const (
	Keys   Kind = iota + 1 // to the container: bytes for its program's terminal
	Output                 // to the host: bytes of that terminal
	Size                   // to the container: the size of the terminal, as SizeData
	Seen                   // to the host: what the container says of itself
	Go                     // to the container: its program may start or go on, as GoData
	Exit                   // to the host: the program has ended, as ExitData
	Past                   // to the host: what follows is from before, as PastData
)

// MostData is how many bytes a message carries at most.
const MostData = 64 << 10

// messageHead is a kind and the length of the data.
const messageHead = 5

// Message is a message of the typed lane.
type Message struct {
	Kind Kind
	Data []byte
}

var errMessage = errors.New("what came is no message")

// fits reports whether a message of the kind can have n bytes.
func (k Kind) fits(n int) bool {
	switch k {
	case Keys, Output, Seen:
		return n <= MostData
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
		return fmt.Errorf("write message: kind %d with %d bytes is none", m.Kind, len(m.Data))
	}
	b := make([]byte, messageHead, messageHead+len(m.Data))
	b[0] = byte(m.Kind)
	binary.BigEndian.PutUint32(b[1:], uint32(len(m.Data)))
	if _, err := w.Write(append(b, m.Data...)); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// ReadMessage reads one message and nothing behind it. It returns io.EOF when r ends before
// a message.
func ReadMessage(r io.Reader) (Message, error) {
	var b [messageHead]byte
	if _, err := io.ReadFull(r, b[:]); errors.Is(err, io.EOF) {
		return Message{}, io.EOF
	} else if err != nil {
		return Message{}, fmt.Errorf("read message: %w", err)
	}
	k, n := Kind(b[0]), binary.BigEndian.Uint32(b[1:])
	if n > MostData || !k.fits(int(n)) {
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

// SizeData is the data of a Size. Numbers that no terminal has become the nearest one that it can
// have.
func SizeData(cols, rows int) []byte {
	in := func(n int) uint16 { return uint16(min(max(n, 1), 1<<16-1)) }
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, in(cols)), in(rows))
}

// ParseSize reads what SizeData has made.
func ParseSize(b []byte) (cols, rows int, err error) {
	if len(b) != 4 {
		return 0, 0, fmt.Errorf("read size: %d bytes are none", len(b))
	}
	cols, rows = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if cols == 0 || rows == 0 {
		return 0, 0, fmt.Errorf("read size: %d×%d is none", cols, rows)
	}
	return cols, rows, nil
}

// GoData is the data of a Go: the size of the terminal, and how many bytes of the program's output
// the host has, over all links.
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

// ParseExit reads what ExitData has made.
func ParseExit(b []byte) (code int, err error) {
	if len(b) != 4 {
		return 0, fmt.Errorf("read exit code: %d bytes are none", len(b))
	}
	return int(int32(binary.BigEndian.Uint32(b))), nil
}

// PastData is the data of a Past: how many bytes of output are lost, and how many from before
// follow.
func PastData(lost, follow uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, lost), follow)
}

// ParsePast reads what PastData has made.
func ParsePast(b []byte) (lost, follow uint64, err error) {
	if len(b) != 16 {
		return 0, 0, fmt.Errorf("read past: %d bytes are none", len(b))
	}
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), nil
}
