package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// File is an open file as the log uses it.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// FS is the file system under a log. Tests replace it by one with faults.
type FS interface {
	// Open opens a regular file for reading and writing, creating it with
	// mode 0600.
	Open(path string, as Role) (File, error)
	Lstat(path string) (fs.FileInfo, error)
	WriteNew(path string, data []byte) error
}

// Role says which of a log's files a file is.
type Role int

const (
	// Head is the small file beside the log, written at its beginning.
	Head Role = iota
	// Records is the log itself: written at its end, and locked against other
	// programs.
	Records
)

// ErrInUse means that another process writes this log.
var ErrInUse = errors.New("another program writes to this log")

type osFS struct{}

func (osFS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Open never blocks. It refuses a pipe without a reader, a link and a device.
func (osFS) Open(path string, as Role) (File, error) {
	flags := os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if as == Records {
		flags |= os.O_APPEND
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil && as == Records {
		err = lockRecords(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockRecords makes this process the log's writer. It waits for a process that only checks
// for a writer (beingWritten), and does not take that process for the writer.
func lockRecords(f *os.File) error {
	for end := time.Now().Add(DefaultDeadline); ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if beingWritten(f) || time.Now().After(end) {
			return ErrInUse
		}
		<-time.After(time.Millisecond)
	}
}

// beingWritten reports whether a process has the log open to write to it.
func beingWritten(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

// WriteNew writes a file that must not exist and syncs it.
func (osFS) WriteNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
