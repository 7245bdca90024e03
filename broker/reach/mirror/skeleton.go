package mirror

import (
	"context"
	"errors"
	"io"
)

var errNotThere = errors.New("copying files: not there yet")

// Client is the host's end of one connection. It may be used by several goroutines; its
// requests go one after another. After an error of the connection, or something that no Server
// says, it refuses every call.
type Client struct{ conn io.ReadWriteCloser }

// NewClient speaks over a connection to a Server. Nothing is sent before the first call.
func NewClient(conn io.ReadWriteCloser) *Client { return &Client{conn: conn} }

// Close closes the connection; a call that runs ends with an error.
func (c *Client) Close() error { return c.conn.Close() }

// Open opens a tree. The directory exists.
func Open(o Options) (*Tree, error) {
	o.Limits = o.Limits.orDefaults()
	return &Tree{o: o}, nil
}

// Sync makes both sides equal, as far as Options want it. An error leaves both sides so that
// the next Sync goes on; ctx ends it promptly, and the client's connection with it.
func (t *Tree) Sync(_ context.Context, _ *Client) (Report, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Report{}, errNotThere
}

// Close closes the tree and its note.
func (t *Tree) Close() error { return nil }
