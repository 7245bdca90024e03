package mux

import (
	"errors"
	"sync"

	"github.com/libp2p/go-yamux/v5"
)

// growth bounds by how much the windows of all streams together may grow. A window grows
// while its reader is fast and the way is long; a window that may not grow stays as it is.
type growth struct {
	mu   sync.Mutex
	used int
}

// mostGrowth is for two streams that fill a long line, or many that grow a little.
const mostGrowth = 2 * mostWindow

var errGrowth = errors.New("the windows of the streams are large enough")

// span is one stream's part.
func (g *growth) span() yamux.MemoryManager { return &span{all: g} }

type span struct {
	all  *growth
	mine int // guarded by the lock of all
}

// ReserveMemory is asked before a window grows.
func (s *span) ReserveMemory(size int, prio uint8) error {
	const always = 255 // the priority of a stream's first window
	if prio == always {
		return nil
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.all.used+size > mostGrowth {
		return errGrowth
	}
	s.all.used += size
	s.mine += size
	return nil
}

// ReleaseMemory is part of the interface; nothing calls it.
func (s *span) ReleaseMemory(int) {}

// Done gives back what a stream has reserved.
func (s *span) Done() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.used -= s.mine
	s.mine = 0
}
