package audit

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"
)

// faulty is the real file system with faults that a test switches on.
type faulty struct {
	osFS
	mu    sync.Mutex
	fault func(op string, size int) (int, error) // bytes to let through, error
}

func (f *faulty) set(fault func(op string, size int) (int, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

func (f *faulty) ask(op string, size int) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		return size, nil
	}
	return f.fault(op, size)
}

func (f *faulty) Open(path string, as Role) (File, error) {
	file, err := f.osFS.Open(path, as)
	if err != nil || as == Head {
		return file, err
	}
	return &faultyFile{File: file, fs: f}, nil
}

type faultyFile struct {
	File
	fs *faulty
}

func (f *faultyFile) Write(b []byte) (int, error) {
	n, err := f.fs.ask("write", len(b))
	if n > 0 {
		if n, werr := f.File.Write(b[:n]); werr != nil {
			return n, werr
		}
	}
	return n, err
}

func (f *faultyFile) Sync() error {
	if _, err := f.fs.ask("sync", 0); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if _, err := f.fs.ask("truncate", 0); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

var _ FS = (*faulty)(nil)

// failing lets keep bytes of a write through and then fails.
func failing(op string, keep int, err error) func(string, int) (int, error) {
	return func(got string, size int) (int, error) {
		if got != op {
			return size, nil
		}
		return min(keep, size), err
	}
}

var (
	errFull = &fs.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	errIO   = errors.Join(syscall.EIO)
)
