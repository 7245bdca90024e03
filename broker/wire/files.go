package wire

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxFiles is the number of descriptors that a frame can have: a program's standard streams.
const maxFiles = 3

// sendFirst sends the files of a frame together with its first bytes. It returns how many bytes it
// has sent.
func (c *Conn) sendFirst(data []byte, files []*os.File) (int, error) {
	if len(files) == 0 {
		return 0, nil
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	n, _, err := c.unix.WriteMsgUnix(data, unix.UnixRights(fds...), nil)
	return n, err
}

// receiveFirst receives the first bytes of a frame, with its files. The files have close-on-exec set
// from the start, so that a program that is started at the same time does not inherit them.
func (c *Conn) receiveFirst(head []byte) ([]*os.File, error) {
	control := make([]byte, unix.CmsgLen(4*maxFiles)) // without padding, which could have room for one more
	n, size, flags, err := readMessage(c.unix, head, control)
	files, unfit := filesOf(control[:size])
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err == nil && flags&unix.MSG_CTRUNC != 0 {
		err = fmt.Errorf("a frame has more than %d files", maxFiles)
	}
	if err == nil {
		err = unfit
	}
	if err == nil && n < len(head) {
		_, err = io.ReadFull(c.unix, head[n:])
	}
	if err != nil {
		Frame{Files: files}.Close()
		return nil, err
	}
	return files, nil
}

// filesOf returns the files in a control message.
func filesOf(control []byte) (files []*os.File, err error) {
	fds, err := filesIn(control)
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "passed"))
	}
	return files, err
}

// filesIn returns the descriptors in a control message.
func filesIn(control []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, fmt.Errorf("read the files of a frame: %w", err)
	}
	for _, m := range messages {
		more, err := unix.ParseUnixRights(&m)
		if err != nil {
			return fds, errors.New("a frame has attachments other than files")
		}
		fds = append(fds, more...)
	}
	return fds, nil
}
