package mux

import (
	"errors"
	"sync"

	"github.com/libp2p/go-yamux/v5"
)

// growth bounds by how much the windows of all streams together may grow. Yamux grows a window
// whose reader is fast, when the round trip is long.
type growth struct {
	mu   sync.Mutex
	used int
}

// maxGrowth is enough for two streams with full windows.
const maxGrowth = 2 * maxWindow

var errGrowth = errors.New("the windows of the streams are large enough")

// span returns the part of one stream.
func (g *growth) span() yamux.MemoryManager { return &span{all: g} }

type span struct {
	all  *growth
	mine int // guarded by the lock of all
}

// ReserveMemory is called before a window grows.
func (s *span) ReserveMemory(size int, prio uint8) error {
	const always = 255 // the priority of a stream's first window
	if prio == always {
		return nil
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.all.used+size > maxGrowth {
		return errGrowth
	}
	s.all.used += size
	s.mine += size
	return nil
}

// ReleaseMemory is part of yamux's interface, which never calls it.
func (s *span) ReleaseMemory(int) {}

// Done gives back what a stream has reserved.
func (s *span) Done() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.used -= s.mine
	s.mine = 0
}
