package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Line is one line of a log.
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
	_, err := readFrom(path, tip{}, each)
	return err
}

// readFrom is Read for the lines after a tip, of which it uses only number and size. It returns the
// tip after the last line that it has read.
func readFrom(path string, from tip, each func(Line) error) (tip, error) {
	f, err := os.Open(path)
	if err != nil {
		return from, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close()
	c := newChain(io.NewSectionReader(f, from.Size, math.MaxInt64-from.Size), from)
	for {
		raw, err := c.read()
		var torn *tornError
		if errors.Is(err, io.EOF) || errors.As(err, &torn) {
			return c.tip, nil
		}
		if err != nil {
			return c.tip, fmt.Errorf("read audit log: %w", err)
		}
		if bytes.IndexByte(raw, 0) >= 0 {
			return c.tip, nil // blocks that a crash kept from the disk; Open moves them aside
		}
		line := Line{Raw: bytes.Clone(raw)}
		if err := json.Unmarshal(raw, &line); err != nil {
			return c.tip, fmt.Errorf("read audit log: line %d: %w", c.tip.Seq+1, err)
		}
		c.tip.Seq++
		c.tip.Size += int64(len(raw)) + 1
		if err := each(line); err != nil {
			return c.tip, err
		}
	}
}

// Last returns the newest lines that pass keep, at most n, oldest first.
func Last(path string, n int, keep func(Line) bool) ([]Line, error) {
	n = max(n, 0)
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
	return lines[max(0, len(lines)-n):], err
}
