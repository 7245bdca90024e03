package nonblock

import (
	"runtime"
	"time"
)

// Await looks again and again whether there is something to read, until there is or
// the limit is over, and says which. It does not sleep: to be woken takes longer
// than many an answer does. Whatever else the program and the system have to do
// comes first. Where there is no stream, nil, nothing is looked for.
func (s *Stream) Await(limit time.Duration) bool {
	if s == nil {
		return false
	}
	ready := false
	err := s.raw.Control(func(fd uintptr) {
		for begun := time.Now(); ; {
			if ready = readable(fd); ready || time.Since(begun) >= limit {
				return
			}
			letOthers()
			runtime.Gosched()
		}
	})
	return err == nil && ready
}
