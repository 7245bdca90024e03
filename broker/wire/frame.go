package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// The size of the largest frame, in bytes: maxHello for the first one that a connection receives.
const (
	MaxFrame = 1 << 20
	maxHello = 4 << 10
)

// writeLimit is how long the other side may take to accept a frame.
const writeLimit = 10 * time.Second

// Conn is one end of a connection. One goroutine at a time may call Receive; Send may be
// called at any time.
type Conn struct {
	unix    *net.UnixConn
	sending sync.Mutex
	limit   int // bytes of the next frame that is received
}

// NewConn returns a connection. The first frame that it receives may have at most maxHello bytes.
func NewConn(c *net.UnixConn) *Conn { return &Conn{unix: c, limit: maxHello} }

// Frame is one message. Its kind decides what is in the body.
type Frame struct {
	Kind  string          `json:"kind"`
	Body  json.RawMessage `json:"body,omitempty"`
	Files []*os.File      `json:"-"` // received with the frame; the receiver owns them
}

// Into decodes the body of a frame, strictly.
func (f Frame) Into(body any) error {
	if err := Strictly(f.Body, body); err != nil {
		return fmt.Errorf("read a %q frame: %w", f.Kind, err)
	}
	return nil
}

// IntoKnown decodes the body of a frame, and ignores members that body does not have.
func (f Frame) IntoKnown(body any) error {
	if err := json.Unmarshal(f.Body, body); err != nil {
		return fmt.Errorf("read a %q frame: %w", f.Kind, err)
	}
	return nil
}

// Close closes the files of a frame.
func (f Frame) Close() {
	for _, file := range f.Files {
		_ = file.Close()
	}
}

// Send sends a frame with files, which the other side then has open, too. body may be nil.
func (c *Conn) Send(kind string, body any, files ...*os.File) error {
	f := Frame{Kind: kind}
	var err error
	if body != nil {
		if f.Body, err = json.Marshal(body); err != nil {
			return fmt.Errorf("send %s: %w", kind, err)
		}
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("send %s: %w", kind, err)
	}
	return c.send(kind, text, files)
}

// SendText sends a frame that consists of text alone. Errors name it by what.
func (c *Conn) SendText(what string, text []byte) error { return c.send(what, text, nil) }

func (c *Conn) send(what string, text []byte, files []*os.File) error {
	if len(text) > MaxFrame {
		return fmt.Errorf("send %s: %d bytes are more than the limit of %d", what, len(text), MaxFrame)
	}
	data := append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	c.sending.Lock()
	defer c.sending.Unlock()
	_ = c.unix.SetWriteDeadline(time.Now().Add(writeLimit))
	n, err := c.sendFirst(data, files)
	if err == nil && n < len(data) { // no empty write: the other side may have closed after the whole frame
		_, err = c.unix.Write(data[n:])
	}
	if err != nil {
		_ = c.unix.Close() // a part of the frame may have been sent
		return fmt.Errorf("send %s: %w", what, err)
	}
	return nil
}

// Receive waits for the next frame. At the end of the connection it returns io.EOF. After any other
// error the connection cannot be used.
func (c *Conn) Receive() (f Frame, err error) {
	text, files, err := c.receive()
	if err != nil {
		return f, err
	}
	err = Strictly(text, &f)
	f.Files = files
	if err == nil && f.Kind == "" {
		err = errors.New("the frame has no kind")
	}
	if err != nil {
		f.Close()
		return Frame{}, fmt.Errorf("read a frame: %w", err)
	}
	return f, nil
}

// ReceiveText waits for the next frame and returns its text. The frame must not have files.
func (c *Conn) ReceiveText() ([]byte, error) {
	text, files, err := c.receive()
	if len(files) > 0 {
		Frame{Files: files}.Close()
		return nil, errors.New("a frame has unexpected files")
	}
	return text, err
}

// receive receives a frame. With an error it returns no files.
func (c *Conn) receive() (text []byte, files []*os.File, err error) {
	var head [4]byte
	if files, err = c.receiveFirst(head[:]); err != nil {
		return nil, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	if size > c.limit {
		err = fmt.Errorf("a frame of %d bytes is more than the limit of %d", size, c.limit)
	} else {
		text = make([]byte, size)
		if _, err = io.ReadFull(c.unix, text); err != nil {
			err = fmt.Errorf("receive: %w", err)
		}
	}
	if err != nil {
		Frame{Files: files}.Close()
		return nil, nil, err
	}
	c.limit = MaxFrame
	return text, files, nil
}

// SetReceiveLimit makes Receive fail after d, counted from now; 0 removes the limit.
func (c *Conn) SetReceiveLimit(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = c.unix.SetReadDeadline(at)
}

// Close ends the connection.
func (c *Conn) Close() error { return c.unix.Close() }
