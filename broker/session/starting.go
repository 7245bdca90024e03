package session

import (
	"context"
	"sync"
	"time"
)

// StartLog is how a session was started, line by line: what was done, and what the
// builders of its image said meanwhile.
type StartLog struct {
	Lines []StartLine `json:"lines"`
	Cut   int         `json:"cut,omitempty"` // lines before them that are not kept
	Over  bool        `json:"over"`          // nothing more will come
}

// StartLine is one line of it.
type StartLine struct {
	Step  bool          `json:"step,omitempty"` // a step begins
	Text  string        `json:"text"`           // a builder's words, not to be trusted
	After time.Duration `json:"after"`          // since the start
}

// Bounds of following a start.
const (
	maxStartLines = 5000
	tailLines     = 8                      // told when a start fails
	startTell     = 100 * time.Millisecond // between two lines that are told
	startTick     = time.Second            // between two words about a step that says nothing
)

// starting follows the start of a session.
type starting struct {
	mu      sync.Mutex
	began   time.Time
	step    string
	since   time.Time // when the step began
	detail  string
	passing bool // the last line gives way to the next
	lines   []StartLine
	cut     int
	told    time.Time // when user interfaces were last told
	over    bool
}

// next begins a step, or adds a line to the one that is under way, and returns what
// user interfaces are to be told.
func (s *starting) next(now time.Time, step, line string, passing bool) []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = now
	}
	var tell []Progress
	if step != s.step {
		tell = s.done(now)
		s.step, s.since, s.detail, s.passing = step, now, "", false
		s.add(StartLine{Step: true, Text: step, After: now.Sub(s.began)})
		tell = append(tell, Progress{Step: step, Detail: line})
		s.told = now
	}
	if line == "" {
		return tell
	}
	if s.passing {
		s.lines = s.lines[:len(s.lines)-1]
	}
	s.detail, s.passing = line, passing
	s.add(StartLine{Text: line, After: now.Sub(s.began)})
	if now.Sub(s.told) < startTell {
		return tell // the next word about the step has it
	}
	s.told = now
	return append(tell, s.present(now))
}

// present is the step as it stands.
func (s *starting) present(now time.Time) Progress {
	return Progress{Step: s.step, Detail: s.detail, Elapsed: now.Sub(s.since)}
}

// done ends the step.
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

// tick is a word about a step that takes its time.
func (s *starting) tick(now time.Time) []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.step == "" || s.over || now.Sub(s.told) < startTick/2 {
		return nil
	}
	s.told = now
	return []Progress{s.present(now)}
}

// end says that the agent runs, or that its start has failed.
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

// tail is what the step that failed said last.
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

// progress tells what is being made.
func (s *Session) progress(step, detail string) {
	s.tellProgress(s.starting.next(time.Now(), step, detail, false))
}

func (s *Session) tellProgress(all []Progress) {
	for _, p := range all {
		p.Session = s.fixed.ID
		s.deps.Events.Progressed(p)
	}
}

// followStart tells of the start, now and then also while nothing new happens. The
// function that it returns ends that and says how the start went.
func (s *Session) followStart(ctx context.Context) (end func(err error)) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		ticks := time.NewTicker(startTick)
		defer ticks.Stop()
		for {
			select {
			case now := <-ticks.C:
				s.tellProgress(s.starting.tick(now))
			case <-ctx.Done():
				return
			}
		}
	})
	return func(err error) {
		cancel()
		following.Wait()
		s.tellProgress(s.starting.end(time.Now(), err != nil))
	}
}

// StartLog tells how the session was started.
func (s *Session) StartLog() StartLog { return s.starting.log() }
