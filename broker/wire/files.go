package wire

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors a frame can have: a program's standard streams.
const maxFiles = 3

// sendFirst sends the beginning of a frame, with which its files travel. It returns how many
// bytes were sent.
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

// receiveFirst receives the first bytes of a frame, with its files. The files are closed on
// exec from the beginning, so that no program that is started meanwhile has them.
func (c *Conn) receiveFirst(head []byte) ([]*os.File, error) {
	control := make([]byte, unix.CmsgLen(4*maxFiles)) // no padding, in which one more would have room
	n, size, flags, err := readMessage(c.unix, head, control)
	files, unfit := filesOf(control[:size])
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err == nil && flags&unix.MSG_CTRUNC != 0 {
		err = fmt.Errorf("more than %d files came with a frame", maxFiles)
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
		return nil, fmt.Errorf("read the files that came with a frame: %w", err)
	}
	for _, m := range messages {
		more, err := unix.ParseUnixRights(&m)
		if err != nil {
			return fds, errors.New("something other than files came with a frame")
		}
		fds = append(fds, more...)
	}
	return fds, nil
}
