package term

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Bounds of a screen's size. Sizes beyond them are brought inside.
const (
	maxCols = 1000
	maxRows = 1000
)

// Options are what a new Screen needs to know.
type Options struct {
	Cols, Rows int

	// Scrollback is the number of lines kept above the screen; 0 means the
	// default of 10,000, a negative number none.
	Scrollback int

	// Engine is the store of cells: "native", the default, or "vt10x".
	Engine string

	// Foreground and Background are what programs that ask (OSC 10 and 11) and set
	// none of their own are told; zero means the colors of a dark theme.
	Foreground, Background Color

	// Notify, if set, is called after a Write for each event in it, outside
	// the screen's lock, on the writer's goroutine.
	Notify func(Event)
}

// Screen is a terminal: bytes of a program go in, cells come out. All its
// methods may be called by several goroutines at once.
type Screen struct {
	notify     func(Event)
	changed    chan struct{}
	generation atomic.Uint64

	mu       sync.Mutex
	emulator *emulator // nil once closed
	lineGens []uint64
	shown    face
	faults   int
	fault    string // the last one, with its stack
}

// face is what a frame shows beside its lines.
type face struct {
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
	case "", "native":
		g = newNativeGrid(cols, rows)
	case "vt10x":
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
	s := &Screen{notify: o.Notify, changed: make(chan struct{}, 1), emulator: e}
	s.generation.Store(1)
	s.settle()
	return s, nil
}

// SetColors says what programs that ask (OSC 10 and 11) are told from now on, as
// the Options of the same names do. Zero leaves a color as it is. A program that wants
// to hear of it (mode 2031) is owed a report when light becomes dark or dark light.
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

// writePiece is how much of a Write is interpreted under one lock at most, so that a
// painter never waits for a long one; see maxWork, too.
const writePiece = 16 << 10

// errClosed is what Write returns after Close.
var errClosed = errors.New("write to screen: closed")

// Write interprets a program's output. It never blocks, consumes everything,
// and fails only after Close.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	for {
		piece := p[:min(len(p), writePiece)]
		p = p[len(piece):]
		for again := true; again; again = len(piece) > 0 {
			rest, events, ok := s.writePiece(piece)
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

// writePiece interprets the beginning of p and returns what is left of it.
func (s *Screen) writePiece(p []byte) (rest []byte, events []Event, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return nil, nil, false
	}
	rest = s.interpret(p)
	s.settle()
	if len(s.emulator.events) > 0 {
		events = s.emulator.events
		s.emulator.events = nil
	}
	return rest, events, true
}

// interpret feeds the emulator and returns what it left. Should it panic, the screen
// starts over and the program's bytes are lost; the person's terminal is not.
func (s *Screen) interpret(p []byte) (rest []byte) {
	defer func() {
		if fault := recover(); fault != nil {
			s.startOver(fault)
		}
	}()
	return s.emulator.write(p)
}

// startOver replaces an emulator whose state cannot be trusted any more, and keeps what
// went wrong for Fault.
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

// settle gives what changed a new generation and wakes whoever waits.
func (s *Screen) settle() {
	e := s.emulator
	now := face{
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

// Resize changes the size, and wraps main screen and scrollback anew. A size
// out of bounds is brought inside.
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

// Size is the screen's size in columns and rows; zero once it is closed.
func (s *Screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return 0, 0
	}
	return s.emulator.cols, s.emulator.rows
}

// TakeReplies returns the answers owed to the program since the last call, or
// nil. There may be some after a Write, a Resize and SetColors. The queue is bounded: a program that asks without end loses answers.
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

// Generation grows with every change of what a frame would show.
func (s *Screen) Generation() uint64 { return s.generation.Load() }

// Changed receives a value after a change. It is lossy: several changes may
// give one value.
func (s *Screen) Changed() <-chan struct{} { return s.changed }

// Held says that the program is in the middle of a synchronized update, so
// that a frame should wait for its end; never for longer than 150 ms.
func (s *Screen) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator != nil && s.emulator.sync.holding()
}

// Modes are the input modes that the program asked for.
func (s *Screen) Modes() keys.Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return keys.Modes{}
	}
	return s.emulator.keyModes()
}

// Title is the title that the program chose, without control characters.
func (s *Screen) Title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return ""
	}
	return s.emulator.title
}

// Fault says how often the emulator failed and started over, and describes the
// last time; anything but zero is a defect worth reporting.
func (s *Screen) Fault() (times int, last string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults, s.fault
}

// Close releases the screen's memory. Later calls do nothing.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emulator = nil
	s.lineGens = nil
}
