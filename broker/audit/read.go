package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Line is one line of a log as it stands there.
type Line struct {
	Record
	Seq  uint64          `json:"seq"`
	Prev string          `json:"prev"`
	Raw  json.RawMessage `json:"-"`
}

// Read calls each for every complete line of the log, oldest first, until it
// returns an error. It ends where a crash left a line unfinished. It checks
// nothing; that is what Verify is for.
func Read(path string, each func(Line) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close()
	c := newChain(f, tip{})
	for n := 1; ; n++ {
		raw, err := c.read()
		var torn *tornError
		if errors.Is(err, io.EOF) || errors.As(err, &torn) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		if bytes.IndexByte(raw, 0) >= 0 {
			return nil // blocks that a crash kept from the disk; Open moves them aside
		}
		line := Line{Raw: bytes.Clone(raw)}
		if err := json.Unmarshal(raw, &line); err != nil {
			return fmt.Errorf("read audit log: line %d: %w", n, err)
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

// Last returns the newest lines that pass keep, at most n, oldest first.
func Last(path string, n int, keep func(Line) bool) ([]Line, error) {
	var lines []Line
	err := Read(path, func(l Line) error {
		if keep(l) {
			lines = append(lines, l)
			if len(lines) > 2*n {
				lines = append(lines[:0], lines[len(lines)-n:]...)
			}
		}
		return nil
	})
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return lines, err
}

// Tail calls each for the lines that are appended after seq, as they come,
// until ctx ends. It looks several times a second.
func Tail(ctx context.Context, path string, seq uint64, each func(Line) error) error {
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	var size int64 = -1
	for {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("follow audit log: %w", err)
		}
		if info.Size() != size {
			size = info.Size()
			err := Read(path, func(l Line) error {
				if l.Seq <= seq {
					return nil
				}
				seq = l.Seq
				return each(l)
			})
			if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
