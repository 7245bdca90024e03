package wire

import "net"

// readMessage reads from a socket with what is attached. Files are closed on exec from the
// beginning: net asks the kernel for that.
func readMessage(c *net.UnixConn, data, control []byte) (n, size, flags int, err error) {
	n, size, flags, _, err = c.ReadMsgUnix(data, control)
	return n, size, flags, err
}
