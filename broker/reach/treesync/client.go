package treesync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Client is the host's end of one connection. It may be used by several goroutines; its
// requests go one after another. After an error of the connection, or something that no Server
// says, it refuses every call.
type Client struct {
	conn io.ReadWriteCloser
	wire *wire
	turn chan struct{} // holds one token; whoever has it asks, and has what follows

	greeted   bool
	failed    error
	lists     map[string][]entry // by tree: what the container has
	listBytes int                // size of lists, for internal/pressure
}

// NewClient speaks over a connection to a Server. Nothing is sent before the first call.
func NewClient(conn io.ReadWriteCloser) *Client {
	c := &Client{conn: conn, wire: newWire(conn), turn: make(chan struct{}, 1), lists: map[string][]entry{}}
	c.turn <- struct{}{}
	return c
}

// Close closes the connection; a call that runs ends with an error, and Close waits for it.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.turn
	c.fail(net.ErrClosed)
	c.turn <- struct{}{}
	return err
}

// fail refuses all that follows, and forgets what the container has.
func (c *Client) fail(err error) {
	c.lists = nil
	c.setListBytes(0)
	if c.failed == nil {
		c.failed = connectionError(err)
	}
}

// refusal is what the Server says that it cannot do. The connection goes on.
type refusal struct{ text string }

func (r refusal) Error() string { return fmt.Sprintf("the container says: %.200q", r.text) }

// request runs one exchange. Any other error than a refusal ends the connection.
func (c *Client) request(ctx context.Context, do func() error) error {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.failed != nil {
		return c.failed
	}
	release := closeOnCancel(ctx, c.conn)
	err := do()
	release()
	var refused refusal
	if err == nil || errors.As(err, &refused) {
		if ctx.Err() != nil { // the connection may be closed already
			c.fail(ctx.Err())
			return ctx.Err()
		}
		return err
	}
	c.conn.Close()
	c.fail(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.failed
}

func connectionError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the connection ended")
	}
	return fault.Wrap("exchange files with the container", err, "try again: copying goes on where it ended")
}

// ask sends the head of a request, after the greeting if it is the first.
func (c *Client) ask(tag byte, body []byte) error {
	if !c.greeted {
		hello := binary.AppendUvarint(appendText(nil, magic), version)
		if err := c.wire.write(msgHello, hello); err != nil {
			return err
		}
	}
	return c.wire.write(tag, body)
}

// sent ends sending, and reads the greeting's answer if there was one.
func (c *Client) flushRequest() error {
	if err := c.wire.w.Flush(); err != nil {
		return err
	}
	if c.greeted {
		return nil
	}
	f, err := c.wire.expect(msgHello)
	if err != nil {
		return err
	}
	if f.number() != version || f.end() != nil {
		return fault.New("end the session and resume it, which makes a new container", "the bridge in the container has another version")
	}
	c.greeted = true
	return nil
}

// read reads the next frame of an answer.
func (c *Client) read() (byte, *fields, error) {
	tag, f, err := c.wire.read()
	if err == nil && tag == msgFailed {
		text := f.text()
		if err := f.end(); err != nil {
			return 0, nil, err
		}
		return 0, nil, refusal{text}
	}
	return tag, f, err
}

// fetch asks for at most batchPaths paths. got is called for each in order, and returns errors
// of this machine: after one the rest is read and forgotten.
func (c *Client) fetch(ctx context.Context, name string, each int64, paths []string, got func(i int, n node, target string, in *content) (local, conn error)) error {
	var local error
	err := c.request(ctx, func() error {
		if err := c.ask(msgFetch, binary.AppendUvarint(appendText(nil, name), uint64(each))); err != nil {
			return err
		}
		for _, path := range paths {
			if err := c.wire.write(msgPaths, appendText(nil, path)); err != nil {
				return err
			}
		}
		if err := c.wire.write(msgLast, nil); err != nil {
			return err
		}
		if err := c.flushRequest(); err != nil {
			return err
		}
		for i := range paths {
			n, target, err := c.head(each)
			if err != nil {
				return err
			}
			in := &content{w: c.wire, left: n.size}
			if local == nil {
				local, err = got(i, n, target, in)
			} else if n.kind == file {
				_, _, _, err = in.copy(nil)
			}
			if err != nil {
				return err
			}
		}
		f, err := c.wire.expect(msgDone)
		if err != nil {
			return err
		}
		return f.end()
	})
	return errors.Join(err, local)
}

// head reads what is coming.
func (c *Client) head(each int64) (n node, target string, err error) {
	tag, f, err := c.read()
	if err != nil {
		return node{}, "", err
	}
	n = f.node()
	if n.kind == link {
		if target = f.text(); !validTarget(target) || linkNode(target) != n {
			f.bad = true
		}
	}
	if err := f.end(); err != nil || tag != msgHead || n.kind == file && n.size > each {
		return node{}, "", fmt.Errorf("%w: %q for a file", errMalformed, tag)
	}
	return n, target, nil
}

// put sends operations, at most batchPaths, and returns what became of each. send gives the
// content of one that carries some: whether the file did not change meanwhile, and its digest.
func (c *Client) put(ctx context.Context, name string, each int64, ops []op, send func(o op, to io.Writer) (stable bool, sum digest, err error)) (status []byte, why string, err error) {
	err = c.request(ctx, func() error {
		if err := c.ask(msgPut, binary.AppendUvarint(appendText(nil, name), uint64(each))); err != nil {
			return err
		}
		for _, o := range ops {
			if err := c.wire.write(msgOp, o.append(nil)); err != nil {
				return err
			}
			if !o.carries() {
				continue
			}
			stable, sum, err := send(o, sender{c.wire})
			if err != nil {
				return err
			}
			if err := sendTail(c.wire, stable, sum); err != nil {
				return err
			}
		}
		if err := c.wire.write(msgLast, nil); err != nil {
			return err
		}
		if err := c.flushRequest(); err != nil {
			return err
		}
		var err error
		status, why, err = c.statuses(len(ops))
		return err
	})
	return status, why, err
}

// sender writes a file's content.
type sender struct{ w *wire }

func (s sender) Write(b []byte) (int, error) {
	if err := s.w.write(msgData, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (c *Client) statuses(n int) (status []byte, why string, err error) {
	tag, f, err := c.read()
	if err != nil {
		return nil, "", err
	}
	status = append(status, f.bytes(uint64(n))...)
	if err := f.end(); err != nil || tag != msgStatus || len(status) != n {
		return nil, "", fmt.Errorf("%w: %q for %d operations", errMalformed, tag, n)
	}
	for _, s := range status {
		if s >= statuses {
			return nil, "", fmt.Errorf("%w: an unknown status", errMalformed)
		}
	}
	if f, err = c.wire.expect(msgDone); err != nil {
		return nil, "", err
	}
	why = f.text()
	return status, why, f.end()
}
