package gitauth

import (
	"net"
	"sync"
)

// endingConn is a connection that closes the channel ended when it is closed.
type endingConn struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

// Close closes the connection.
func (c *endingConn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.Conn.Close()
}
