// Package pressure lets less garbage wait for the collector while this process keeps much of what
// agents have sent. An agent that floods would otherwise make the host keep as much garbage as it
// keeps messages: small calls over 64 connections cost 36 MB before what is unread was counted here, half
// of it garbage, and 10 MB since (TestAHostileContainerIsBounded).
package pressure

import (
	"runtime/debug"
	"sync"
)

// While more than much bytes are kept, the collector runs at the percentage frugal, until they are
// less than half of that.
const (
	much   = 4 << 20
	frugal = 25
)

// kept is what is kept of all sessions of this process.
var kept level

// Add notes that so many bytes more are kept, or fewer.
func Add(bytes int64) { kept.add(bytes) }

// High reports whether much is kept.
func High() bool {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	return kept.high
}

type level struct {
	mu     sync.Mutex
	bytes  int64
	high   bool
	before int // the collector's percentage when little is kept
}

func (l *level) add(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += bytes
	switch {
	case !l.high && l.bytes > much:
		l.high, l.before = true, debug.SetGCPercent(frugal)
	case l.high && l.bytes < much/2:
		l.high = false
		debug.SetGCPercent(l.before)
	}
}
