package audit

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Follower reads the lines of a log that is being written, each of them once.
type Follower struct {
	path  string
	after uint64 // the newest line that was handed on
	at    tip    // the end of what was read
}

// Follow prepares to read the lines after number seq; 0 means all.
func Follow(path string, seq uint64) *Follower { return &Follower{path: path, after: seq} }

// Next calls each for the lines that were appended since the last call, and returns without
// waiting for more. It reads only these lines. A line for which each returns an error is
// not passed again.
func (f *Follower) Next(each func(Line) error) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("follow audit log: %w", err)
	}
	if info.Size() == f.at.Size {
		return nil
	}
	if info.Size() < f.at.Size {
		f.at = tip{} // the log was cut, so it is read from its beginning
	}
	f.at, err = readFrom(f.path, f.at, func(l Line) error {
		if l.Seq <= f.after {
			return nil
		}
		f.after = l.Seq
		return each(l)
	})
	return err
}

// Tail calls each for the lines that are appended after seq, as they come,
// until ctx ends. It looks several times a second.
func Tail(ctx context.Context, path string, seq uint64, each func(Line) error) error {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for f := Follow(path, seq); ; {
		if err := f.Next(each); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
