package docker

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Progress describes how far the build of an image has got.
type Progress struct {
	Image   string        `json:"image"`             // the image being made, perhaps a parent of the wanted one
	Step    int           `json:"step"`              // from 1
	Steps   int           `json:"steps"`             // of the whole work
	Title   string        `json:"title"`             // "build image claude-code"
	Detail  string        `json:"detail"`            // the latest line of output, or empty
	Passing bool          `json:"passing,omitempty"` // the next line replaces this one
	Elapsed time.Duration `json:"elapsed"`
}

// String returns the progress as one line.
func (p Progress) String() string {
	s := fmt.Sprintf("[%d/%d] %s", p.Step, p.Steps, p.Title)
	if p.Detail != "" {
		s += ": " + p.Detail
	}
	return fmt.Sprintf("%s (%.0f s)", s, p.Elapsed.Seconds())
}

// reporter counts the steps of one EnsureImage. Its methods may be called from several
// goroutines; it calls OnProgress from one at a time.
type reporter struct {
	options BuildOptions
	mu      sync.Mutex
	started time.Time
	at      Progress
}

func newReporter(o BuildOptions, steps int) *reporter {
	return &reporter{options: o, started: time.Now(), at: Progress{Steps: steps}}
}

// step starts the next step.
func (r *reporter) step(image, title string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at.Image, r.at.Title, r.at.Detail, r.at.Passing = image, title, "", false
	if r.at.Step++; r.at.Step > r.at.Steps {
		r.at.Steps = r.at.Step
	}
	r.report()
}

// detail reports a line of output of the current step.
func (r *reporter) detail(line string) { r.line(line, false) }

// line is detail for a line that the next one may replace (Progress.Passing).
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
	r.report()
}

// report calls OnProgress. The caller holds r.mu, so that the calls come in order.
func (r *reporter) report() {
	r.at.Elapsed = time.Since(r.started)
	if r.options.OnProgress != nil {
		r.options.OnProgress(r.at)
	}
}

// plainLine makes a line of a builder's output safe to show on a screen: without
// control characters, at most 500 bytes.
func plainLine(line string) string { return plain(line, 500) }

// plain makes any text a single line that is safe to show on a screen, of limit bytes at most.
func plain(line string, limit int) string {
	line = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0) || c == 0xfffd {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(line, " "))
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return line
}
