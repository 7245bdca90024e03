package term

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Bounds of a screen's size. Larger sizes are reduced to them.
const (
	maxCols = 1000
	maxRows = 1000
)

// The names of the engines.
const (
	engineNative = "native"
	engineVT10x  = "vt10x"
)

// Options are the settings of a new Screen.
type Options struct {
	Cols, Rows int

	// Scrollback is the number of lines kept above the screen, where a line that is
	// wrapped into several rows counts as one; 0 means the default of 10,000, a
	// negative number none.
	Scrollback int

	// Engine is the implementation that stores cells: "native", the default, or
	// "vt10x".
	Engine string

	// Foreground and Background are the colors that OSC 10 and 11 report to programs
	// that have set none. Zero means the colors of a dark theme.
	Foreground, Background Color

	// Notify, if set, is called after a Write for each event in it, outside
	// the screen's lock, on the writer's goroutine.
	Notify func(Event)
}

// Screen is a terminal: it accepts a program's output (Write) and produces cells
// (Snapshot). Several goroutines may call its methods at once.
type Screen struct {
	notify     func(Event)
	changed    chan struct{}
	generation atomic.Uint64

	mu       sync.Mutex
	emulator *emulator // nil once closed
	lineGens []uint64
	shown    frameState
	faults   int
	fault    string // the last one, with its stack
}

// frameState is what a frame shows besides its lines. A change to it starts a new
// generation.
type frameState struct {
	cursor   Cursor
	modes    keys.Modes
	title    string
	scrolled int
	synced   bool
}

// NewScreen makes a screen. Its error says which option is wrong.
func NewScreen(o Options) (*Screen, error) {
	cols, rows := clampSize(o.Cols, o.Rows)
	var g grid
	switch o.Engine {
	case "", engineNative:
		g = newNativeGrid(cols, rows)
	case engineVT10x:
		g = newVT10xGrid(cols, rows)
	default:
		return nil, fmt.Errorf("new screen: unknown engine %q: use native or vt10x", o.Engine)
	}
	lines := o.Scrollback
	if lines == 0 {
		lines = defaultScrollback
	}
	e := newEmulator(g, cols, rows, newHistory(max(lines, 0)))
	if o.Foreground != 0 {
		e.foreground = o.Foreground
	}
	if o.Background != 0 {
		e.background = o.Background
	}
	return newScreen(e, o.Notify), nil
}

func newScreen(e *emulator, notify func(Event)) *Screen {
	s := &Screen{notify: notify, changed: make(chan struct{}, 1), emulator: e}
	s.generation.Store(1)
	s.settle()
	return s
}

// SetColors changes the colors that OSC 10 and 11 report, like the Options of the same
// names. Zero does not change a color. When the background changes between light and
// dark, a program that set mode 2031 gets a report.
func (s *Screen) SetColors(foreground, background Color) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.emulator
	if e == nil {
		return
	}
	if foreground != 0 {
		e.foreground = foreground
	}
	if background != 0 {
		changed := background.Dark() != e.background.Dark()
		e.background = background
		if changed && e.modes.has(themeReports) {
			e.reportTheme()
		}
	}
}

func clampSize(cols, rows int) (int, int) {
	return max(1, min(cols, maxCols)), max(1, min(rows, maxRows))
}

// writePiece is how many bytes of a Write are interpreted under one lock at most, so
// that a painter never waits for a long Write. See also maxWork.
const writePiece = 16 << 10

// errClosed is what Write returns after Close.
var errClosed = errors.New("write to screen: closed")

// Write interprets a program's output. It never blocks, always consumes all of p, and
// fails only after Close.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	for {
		piece := p[:min(len(p), writePiece)]
		p = p[len(piece):]
		for again := true; again; again = len(piece) > 0 {
			rest, events, ok := s.writePiece(piece, len(p) == 0)
			if !ok {
				return 0, errClosed
			}
			if s.notify != nil {
				for _, ev := range events {
					s.notify(ev)
				}
			}
			piece = rest
		}
		if len(p) == 0 {
			return n, nil
		}
	}
}

// writePiece interprets the beginning of p and returns the rest. last says that no more
// pieces follow p. ok is false after Close.
func (s *Screen) writePiece(p []byte, last bool) (rest []byte, events []Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return nil, nil, false
	}
	rest = s.interpret(p)
	if last && len(rest) == 0 {
		s.emulator.sync.writeEnded()
	}
	s.settle()
	if len(s.emulator.events) > 0 {
		events = s.emulator.events
		s.emulator.events = nil
	}
	return rest, events, true
}

// interpret passes p to the emulator and returns the rest. If the emulator panics, the
// screen starts over and p is lost, but the multiplexer continues.
func (s *Screen) interpret(p []byte) (rest []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			s.startOver(fault)
		}
	}()
	return s.emulator.write(p)
}

// startOver replaces an emulator whose state is no longer reliable, and keeps the cause
// for Fault.
func (s *Screen) startOver(fault any) {
	s.faults++
	s.fault = fmt.Sprintf("%v\n%s", fault, debug.Stack())
	old := s.emulator
	var g grid
	if _, ok := old.grid.(*nativeGrid); ok {
		g = newNativeGrid(old.cols, old.rows)
	} else {
		g = newVT10xGrid(old.cols, old.rows)
	}
	e := newEmulator(g, old.cols, old.rows, newHistory(old.history.max))
	e.foreground, e.background = old.foreground, old.background
	e.raise(Event{Kind: EventFault, Text: cleanText(fmt.Append(nil, fault), maxNote)})
	s.emulator = e
}

// settle starts a new generation if anything changed, and signals Changed.
func (s *Screen) settle() {
	e := s.emulator
	now := frameState{
		cursor: s.cursor(), modes: e.keyModes(), title: e.title,
		scrolled: e.history.count, synced: e.sync.active,
	}
	if !e.damage.any && now == s.shown {
		return
	}
	s.shown = now
	generation := s.generation.Load() + 1
	if len(s.lineGens) != e.rows {
		s.lineGens = make([]uint64, e.rows)
	}
	e.damage.take(func(y int) { s.lineGens[y] = generation })
	s.generation.Store(generation)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *Screen) cursor() Cursor {
	e := s.emulator
	return Cursor{
		X: e.column(), Y: e.y,
		Visible: e.modes.has(cursorVisible), Shape: e.shape,
	}
}

// Resize changes the size and wraps main screen and scrollback again. A size out of
// bounds is moved into them.
func (s *Screen) Resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return
	}
	cols, rows = clampSize(cols, rows)
	func() {
		defer func() {
			if fault := recover(); fault != nil {
				s.emulator.cols, s.emulator.rows = cols, rows
				s.startOver(fault)
			}
		}()
		s.emulator.resize(cols, rows)
	}()
	s.settle()
}

// Size returns the screen's size in columns and rows, and zero after Close.
func (s *Screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return 0, 0
	}
	return s.emulator.cols, s.emulator.rows
}

// Cursor returns the cursor with its position on the screen.
func (s *Screen) Cursor() Cursor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return Cursor{}
	}
	return s.cursor()
}

// TakeReplies returns the answers to the program that were queued since the last call,
// or nil. Write, Resize and SetColors can queue answers. The queue is bounded: a program
// that asks without end loses answers.
func (s *Screen) TakeReplies() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil || len(s.emulator.replies) == 0 {
		return nil
	}
	replies := s.emulator.replies
	s.emulator.replies = nil
	return replies
}

// Generation returns a number that grows with every change of what a frame would show.
func (s *Screen) Generation() uint64 { return s.generation.Load() }

// Changed returns a channel that receives a value after a change. It is lossy: several
// changes may give one value.
func (s *Screen) Changed() <-chan struct{} { return s.changed }

// Held reports whether the program is in the middle of a synchronized update, so that changes
// need not be painted before the update ends. It returns true for at most 150 ms.
func (s *Screen) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator != nil && s.emulator.sync.holding()
}

// Modes returns the input modes that the program asked for.
func (s *Screen) Modes() keys.Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return keys.Modes{}
	}
	return s.emulator.keyModes()
}

// Title returns the title that the program chose, without control characters.
func (s *Screen) Title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return ""
	}
	return s.emulator.title
}

// Fault returns how often the emulator failed and started over, and a description of
// the last failure. A number other than zero is a defect that should be reported.
func (s *Screen) Fault() (times int, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults, s.fault
}

// Close releases the screen's memory. Later calls do nothing, and Write and Save fail.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emulator = nil
	s.lineGens = nil
}
