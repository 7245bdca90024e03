package session

import (
	"context"
	"sync"
	"time"
)

// StartLog is the log of a session's start: its steps, and the output of the builders of
// its image.
type StartLog struct {
	Lines []StartLine `json:"lines"`
	Cut   int         `json:"cut,omitempty"` // how many earlier lines were dropped
	Over  bool        `json:"over"`          // the start is over, and the log complete
}

// StartLine is one line of a StartLog.
type StartLine struct {
	Step  bool          `json:"step,omitempty"` // the line is the name of a step that begins
	Text  string        `json:"text"`           // may be a builder's output, which is not trusted
	After time.Duration `json:"after"`          // since the start
}

// Limits of reporting a start.
const (
	maxStartLines  = 5000
	tailLines      = 8                      // last lines that are reported when a start fails
	reportInterval = 100 * time.Millisecond // between two lines that are reported
	tickInterval   = time.Second            // between two reports of a step without output
)

// starting keeps the log of a session's start and decides which of it is reported.
type starting struct {
	mu         sync.Mutex
	began      time.Time
	step       string
	since      time.Time // when the step began
	detail     string
	passing    bool // the next line replaces the last one
	lines      []StartLine
	cut        int
	lastReport time.Time // time of the last report
	over       bool
}

// next begins a step, or adds a line to the current step, and returns what to report.
func (s *starting) next(now time.Time, step, line string, passing bool) []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = now
	}
	var reports []Progress
	if step != s.step {
		reports = s.done(now)
		s.step, s.since, s.detail, s.passing = step, now, "", false
		s.add(StartLine{Step: true, Text: step, After: now.Sub(s.began)})
		reports = append(reports, Progress{Step: step, Detail: line})
		s.lastReport = now
	}
	if line == "" {
		return reports
	}
	if s.passing {
		s.lines = s.lines[:len(s.lines)-1]
	}
	s.detail, s.passing = line, passing
	s.add(StartLine{Text: line, After: now.Sub(s.began)})
	if now.Sub(s.lastReport) < reportInterval {
		return reports // the next report includes the line
	}
	s.lastReport = now
	return append(reports, s.present(now))
}

// present returns a report of the current step.
func (s *starting) present(now time.Time) Progress {
	return Progress{Step: s.step, Detail: s.detail, Elapsed: now.Sub(s.since)}
}

// done returns the report that the current step is done, if there is a step.
func (s *starting) done(now time.Time) []Progress {
	if s.step == "" {
		return nil
	}
	p := s.present(now)
	p.Done = true
	return []Progress{p}
}

func (s *starting) add(line StartLine) {
	s.lines = append(s.lines, line)
	if len(s.lines) > maxStartLines {
		s.cut += len(s.lines) - maxStartLines
		s.lines = append([]StartLine(nil), s.lines[len(s.lines)-maxStartLines:]...)
	}
}

// tick returns a report of the current step if the last report was a while ago.
func (s *starting) tick(now time.Time) []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.step == "" || s.over || now.Sub(s.lastReport) < tickInterval/2 {
		return nil
	}
	s.lastReport = now
	return []Progress{s.present(now)}
}

// end ends the start, and returns the report that the last step is done or has failed.
func (s *starting) end(now time.Time, failed bool) []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.step == "" || s.over {
		return nil
	}
	s.over = true
	p := s.done(now)
	if failed {
		p[0].Done, p[0].Failed, p[0].Tail = false, true, s.tail()
	}
	return p
}

// tail returns the last lines of the current step.
func (s *starting) tail() []string {
	var out []string
	for _, line := range s.lines[max(0, len(s.lines)-tailLines):] {
		if line.Step {
			out = nil
			continue
		}
		out = append(out, line.Text)
	}
	return out
}

func (s *starting) log() StartLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return StartLog{Lines: append([]StartLine(nil), s.lines...), Cut: s.cut, Over: s.over}
}

// progress reports a step of the start, or a detail of it.
func (s *Session) progress(step, detail string) {
	s.reportProgress(s.starting.next(time.Now(), step, detail, false))
}

func (s *Session) reportProgress(all []Progress) {
	for _, p := range all {
		p.Session = s.fixed.ID
		s.deps.Events.Progressed(p)
	}
}

// followStart reports the current step every second, so that the person sees how long it takes. end
// stops that and reports the end of the start, which has failed if err is not nil.
func (s *Session) followStart(ctx context.Context) (end func(err error)) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		ticks := time.NewTicker(tickInterval)
		defer ticks.Stop()
		for {
			select {
			case now := <-ticks.C:
				s.reportProgress(s.starting.tick(now))
			case <-ctx.Done():
				return
			}
		}
	})
	return func(err error) {
		cancel()
		following.Wait()
		s.reportProgress(s.starting.end(time.Now(), err != nil))
	}
}

// StartLog returns the log of the session's start so far.
func (s *Session) StartLog() StartLog { return s.starting.log() }
