package link

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Version is the version of the protocol that this end speaks.
const Version = 1

// ID identifies a link. The host chooses it at random.
type ID [16]byte

// NewID returns a random ID.
func NewID() ID {
	var id ID
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// String is the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Hello is what each end sends first on a carrier.
type Hello struct {
	Version  byte
	ID       ID
	Received [2]uint64 // how many bytes of typed and of bulk this end has received
}

const (
	magic     = "icl\n" // tells a hello from an engine's error text
	helloSize = len(magic) + 1 + len(ID{}) + 2*8
)

// Errors of a hello.
var (
	errNoHello = errors.New("what was received is not a hello")
	errVersion = errors.New("the other end has another version of the protocol")
	errOther   = errors.New("the other end has another link")
	errLate    = errors.New("the hello is outdated")
)

// encode returns the bytes of the hello.
func (h Hello) encode() []byte {
	b := append([]byte(magic), h.Version)
	b = append(b, h.ID[:]...)
	for _, n := range h.Received {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// ReadHello reads the other end's hello, and nothing after it.
func ReadHello(r io.Reader) (Hello, error) {
	var b [helloSize]byte
	if _, err := io.ReadFull(r, b[:len(magic)+1]); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	if string(b[:len(magic)]) != magic {
		return Hello{}, fmt.Errorf("read hello: %w: %q", errNoHello, b[:len(magic)+1])
	}
	h := Hello{Version: b[len(magic)]}
	if h.Version != Version {
		return Hello{}, fmt.Errorf("read hello: %w: %d, not %d", errVersion, h.Version, Version)
	}
	rest := b[len(magic)+1:]
	if _, err := io.ReadFull(r, rest); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	copy(h.ID[:], rest)
	for i := range h.Received {
		h.Received[i] = binary.BigEndian.Uint64(rest[len(h.ID)+8*i:])
	}
	return h, nil
}
