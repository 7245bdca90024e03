package nonblock

import (
	"os"
	"sync"
	"time"
)

// The end of a sync is polled for that long, since disks acknowledge a write in a
// fraction of a millisecond. After syncs that took longer, so many at most are not.
const (
	syncLimit = time.Millisecond
	syncRests = 16
)

// Syncer makes what was written to a file durable, as the file's own Sync does. Where
// the system can, no thread blocks in the kernel meanwhile: the scheduler would hand the
// thread's processor to another one and find it one afterwards, which takes a quarter of
// the time of the sync itself. One goroutine at a time uses it.
type Syncer struct {
	file   *os.File
	once   sync.Once
	kernel *kernelSync // nil where the system has none, or after it failed
	linger Linger
}

// NewSyncer makes a syncer of an open file.
func NewSyncer(f *os.File) *Syncer {
	return &Syncer{file: f, linger: Linger{Limit: syncLimit, Rests: syncRests}}
}

// Sync returns when all that was written to the file is on the disk.
func (s *Syncer) Sync() error {
	s.once.Do(func() { s.kernel = newKernelSync(s.file) })
	if s.kernel == nil || !s.kernel.begin() {
		return s.file.Sync()
	}
	s.linger.Wait(s.kernel.end, true)
	if err := s.kernel.result(); err != nil {
		s.kernel.release() // so that no later sync takes the end of this one for its own
		s.kernel = nil
		return &os.PathError{Op: "sync", Path: s.file.Name(), Err: err}
	}
	return nil
}

// Close releases what the syncer has of the system, which is not the file.
func (s *Syncer) Close() {
	s.once.Do(func() {}) // nothing was taken, and nothing will be
	if s.kernel != nil {
		s.kernel.release()
	}
}
