// Package pressure makes the garbage collector run more often while this process keeps many bytes
// that agents have sent. Otherwise an agent that floods the host would make it keep as much garbage
// as messages: small calls over 64 connections took 36 MB, half of it garbage, and take 10 MB with
// this package (TestAHostileContainerIsBounded).
package pressure

import (
	"runtime/debug"
	"sync"
)

// When more than much bytes are kept, the collector's percentage (GOGC) becomes frugal, until less
// than half of much is kept.
const (
	much   = 4 << 20
	frugal = 25
)

// kept counts the bytes of all sessions of this process.
var kept level

// Add adds to the number of bytes that are kept; bytes may be negative.
func Add(bytes int64) { kept.add(bytes) }

// High reports whether the collector runs more often now.
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
