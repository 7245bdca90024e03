package nonblock

import (
	"sync/atomic"
	"time"
)

// How long bytes are looked for that may come at once, how many times that is left out
// at most after they did not, and how many times after a message that was not alone.
const (
	lingerLimit = 300 * time.Microsecond
	lingerRests = 1024
	lingerCrowd = 32
)

// Linger polls for a reply before its caller sleeps: falling asleep and being woken
// often takes longer than the reply. After polls that found nothing it leaves some
// out, more each time, so a slow peer costs little. The zero value is ready; it is
// safe for concurrent use.
type Linger struct {
	vain  atomic.Int32 // polls in a row that found nothing
	rests atomic.Int32 // polls still to be left out
}

// Awaiter can look for bytes without sleeping; *Stream is one.
type Awaiter interface {
	Await(limit time.Duration) bool
}

// Wait returns when there is something to read, or polling is no longer worth it.
// While other messages are in flight, this one is not alone, and polling would take
// the processor from them.
func (l *Linger) Wait(from Awaiter, alone bool) {
	switch {
	case !alone:
		l.rests.Store(max(l.rests.Load(), lingerCrowd))
	case l.rests.Load() > 0:
		l.rests.Add(-1)
	case from.Await(lingerLimit):
		l.vain.Store(0)
	default:
		l.rests.Store(min(int32(1)<<min(l.vain.Add(1), 16), lingerRests))
	}
}
