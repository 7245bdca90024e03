package nonblock

import (
	"sync/atomic"
	"time"
)

// How long bytes are looked for that may come at once, how many times that is left
// out at most after they did not, and how many times after a message that was not
// alone.
const (
	lingerLimit = 300 * time.Microsecond
	lingerRests = 1024
	lingerCrowd = 32
)

// Linger saves whoever passes small messages on the time in which a program falls
// asleep and is woken, which often is longer than an answer takes: what may come
// back at once is looked for before the program sleeps. Where that was in vain it is
// left out for a while, the longer the more often, so a peer that takes its time is
// not waited for. The zero value is ready; it is safe for concurrent use.
type Linger struct {
	vain  atomic.Int32 // how often in a row
	rests atomic.Int32 // how many times it is still left out
}

// Awaiter can look for bytes without sleeping; *Stream is one.
type Awaiter interface {
	Await(limit time.Duration) bool
}

// Wait returns when there is something to read, or it is not worth while to look any
// longer. While other messages are on their way, this one is not alone, and looking
// would take the processor from them.
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
