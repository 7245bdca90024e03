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

// Client is the host's end of one connection. Goroutines may share it; it sends one request at
// a time. After a broken connection or a malformed answer every call fails.
type Client struct {
	conn io.ReadWriteCloser
	wire *wire
	turn chan struct{} // a lock that a context can give up waiting for: holds one token; guards what follows

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

// Close closes the connection and waits for a running call, which fails.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.turn
	c.fail(net.ErrClosed)
	c.turn <- struct{}{}
	return err
}

// fail makes all later calls fail, and drops the lists.
func (c *Client) fail(err error) {
	c.lists = nil
	c.setListBytes(0)
	if c.failed == nil {
		c.failed = connectionError(err)
	}
}

// refusal is the Server's answer to a request that it cannot serve. The connection stays usable.
type refusal struct{ text string }

func (r refusal) Error() string { return fmt.Sprintf("the container refuses: %.200q", r.text) }

// request runs one exchange. Every error except a refusal closes the connection.
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
		if ctx.Err() != nil { // closeOnCancel may have closed the connection
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
	return fault.Wrap("exchange files with the container", err, "try again: files that were copied already are not copied again")
}

// ask writes the first frame of a request, preceded by hello on a new connection.
func (c *Client) ask(tag byte, body []byte) error {
	if !c.greeted {
		hello := binary.AppendUvarint(appendText(nil, magic), version)
		if err := c.wire.write(msgHello, hello); err != nil {
			return err
		}
	}
	return c.wire.write(tag, body)
}

// flushRequest sends what was written, and on a new connection reads the answer to hello.
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
		return fault.New("end the session and resume it: that makes a new container", "the bridge in the container has another version")
	}
	c.greeted = true
	return nil
}

// read reads the next frame of an answer; a failed frame becomes a refusal.
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

// fetch asks for at most batchPaths paths and calls got for each, in order. got returns errors of
// the host and of the connection separately: after a local error the rest is read and discarded.
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

// head reads the node at the next path of a fetch.
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

// put sends at most batchPaths operations and returns the status of each, and the text of the
// first failure. send writes the content of an operation that carries some, and returns whether
// the file was unchanged while it was read, and its digest.
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

// sender writes a file's content as data frames.
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
