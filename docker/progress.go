package docker

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Progress is one moment of making an image.
type Progress struct {
	Image   string        `json:"image"`             // the image being made, perhaps a parent of the wanted one
	Step    int           `json:"step"`              // from 1
	Steps   int           `json:"steps"`             // of the whole work
	Title   string        `json:"title"`             // "build image claude-code"
	Detail  string        `json:"detail"`            // the latest line of output, or empty
	Passing bool          `json:"passing,omitempty"` // the next line takes the place of this one
	Elapsed time.Duration `json:"elapsed"`
}

// String is the progress as one line.
func (p Progress) String() string {
	s := fmt.Sprintf("[%d/%d] %s", p.Step, p.Steps, p.Title)
	if p.Detail != "" {
		s += ": " + p.Detail
	}
	return fmt.Sprintf("%s (%.0f s)", s, p.Elapsed.Seconds())
}

// reporter counts the steps of one EnsureImage. Its methods are called from
// several goroutines; the caller's function is called for one after the other.
type reporter struct {
	options BuildOptions
	mu      sync.Mutex
	began   time.Time
	at      Progress
}

func newReporter(o BuildOptions, steps int) *reporter {
	return &reporter{options: o, began: time.Now(), at: Progress{Steps: steps}}
}

// step begins the next step.
func (r *reporter) step(image, title string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at.Image, r.at.Title, r.at.Detail, r.at.Passing = image, title, "", false
	if r.at.Step++; r.at.Step > r.at.Steps {
		r.at.Steps = r.at.Step
	}
	r.tell()
}

// detail reports a line of output of the current step.
func (r *reporter) detail(line string) { r.line(line, false) }

// line is detail for a line that may be a passing one.
func (r *reporter) line(line string, passing bool) {
	line = plainLine(line)
	if line == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.Detail == line {
		return
	}
	r.at.Detail, r.at.Passing = line, passing
	r.tell()
}

// tell calls the caller's function; r.mu is held so that it sees one moment after
// the other.
func (r *reporter) tell() {
	r.at.Elapsed = time.Since(r.began)
	if r.options.OnProgress != nil {
		r.options.OnProgress(r.at)
	}
}

// plainLine makes a line of some builder's output fit for a person's screen:
// no control characters, at most 500 bytes.
func plainLine(line string) string {
	line = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0xfffd {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(line, " "))
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > 500 {
		line = strings.ToValidUTF8(line[:500], "") + "…"
	}
	return line
}
