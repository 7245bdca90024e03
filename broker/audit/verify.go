package audit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// Report is what Verify found.
type Report struct {
	Records uint64 `json:"records"` // intact lines
	Bytes   int64  `json:"bytes"`
	Closed  bool   `json:"closed"` // the log ends with a closing line
	Whole   bool   `json:"whole"`
	// Unfinished is how many calls were let through without a record of their end: they
	// are under way, or the program was killed meanwhile.
	Unfinished int    `json:"unfinished"`
	Problem    string `json:"problem,omitempty"`
}

// ErrBroken is the error of a log that is not whole.
var ErrBroken = errors.New("the log is not whole")

// Verify reads the log at path and checks that nothing in it was changed, moved or removed.
// It may run while the log is being written. The report describes the log up to the first
// fault, even when the error is not nil.
func Verify(path string) (Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return Report{}, fmt.Errorf("verify audit log: %w", err)
	}
	defer f.Close()
	// The head is read first: a log that is being written only grows.
	head, known, err := headOf(path)
	if err != nil {
		return Report{Problem: err.Error()}, fmt.Errorf("verify audit log %s: %w: %w", path, ErrBroken, err)
	}
	c := newChain(f, tip{Hash: genesis})
	calls := unfinished{}
	passed := !known || head.Seq == 0
	for {
		if err = c.nextOf(f); err != nil {
			break
		}
		calls.see(c.body)
		if known && c.tip.Seq == head.Seq {
			if c.tip != head {
				err = fmt.Errorf("line %d is not the one that its head file names", head.Seq)
				break
			}
			passed = true
		}
	}
	r := Report{Records: c.tip.Seq, Bytes: c.tip.Size, Closed: c.sealed, Unfinished: len(calls)}
	switch {
	case !errors.Is(err, io.EOF):
	case !passed:
		err = fmt.Errorf("the log ends at line %d, but its head file names line %d", c.tip.Seq, head.Seq)
	case !known && !c.sealed && c.tip.Seq > 0:
		err = errors.New("the log has neither a closing line nor a head file: its end may be missing")
	case !known && c.tip.Seq == 0:
		err = errors.New("the log is empty and has no head file")
	default:
		r.Whole = true
		return r, nil
	}
	r.Problem = err.Error()
	return r, fmt.Errorf("verify audit log %s: %w: %w", path, ErrBroken, err)
}

// nextOf is next for a log that may be written meanwhile. A reader can see the
// beginning of a line before its end: while the log has a writer, such a line is
// read again, until it has its end or did not grow for as long as a write may take.
func (c *chain) nextOf(file *os.File) error {
	length, since, final := 0, time.Now(), false
	for {
		err := c.next()
		var torn *tornError
		if !errors.As(err, &torn) || final {
			return err
		}
		if torn.length != length {
			length, since = torn.length, time.Now()
		}
		final = !beingWritten(file) || time.Since(since) > DefaultDeadline
		c.r.Reset(io.NewSectionReader(file, c.tip.Size, math.MaxInt64-c.tip.Size))
		<-time.After(time.Millisecond)
	}
}

func headOf(path string) (tip, bool, error) {
	f, err := os.Open(headName(path))
	if errors.Is(err, os.ErrNotExist) {
		return tip{}, false, nil
	}
	if err != nil {
		return tip{}, false, err
	}
	defer f.Close()
	return readHead(f)
}
