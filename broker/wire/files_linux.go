package wire

import "net"

// readMessage reads data and attached files from a socket. Package net asks the kernel to set
// close-on-exec.
func readMessage(c *net.UnixConn, data, control []byte) (n, size, flags int, err error) {
	n, size, flags, _, err = c.ReadMsgUnix(data, control)
	return n, size, flags, err
}
