// Package outer owns the person's own terminal while the multiplexer runs. Open sets
// the modes that the multiplexer needs. Listen reads the terminal on one goroutine and
// delivers events. Write writes each frame in one piece. Restore gives the terminal back
// as Open found it, whatever happened in between.
package outer
