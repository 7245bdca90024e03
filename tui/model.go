package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// mode says what gets the person's keys.
type mode uint8

const (
	modeTerminal mode = iota // the focused agent
	modeCommand              // the command line
	modeCopy                 // copy mode of the focused pane
	modeHelp                 // the help screen
	modePicker               // the list of stored sessions
	modeHere                 // the question whether to work in a project
)

// question is something that has to be answered with yes or no.
type question struct {
	text string
	yes  func(m *Model) tea.Cmd
}

// Model is the whole state of the user interface. Only the Bubble Tea event loop changes
// it, one message at a time, and nothing there blocks: work that takes time runs as a
// command, whose result comes back as a message. Only takeFastPath reads the model outside
// of the loop, between two messages.
type Model struct {
	mu       sync.Mutex // held by Update, and by takeFastPath
	underway underway
	mux      *pane.Mux

	ctx   context.Context
	o     Options
	api   broker.API
	tasks *pane.Tasks
	sink  sink
	gate  *pane.Gate
	send  func(tea.Msg) // sends a message to the event loop from another goroutine
	post  func(tea.Msg) // does so without waiting for the loop; messages may be lost
	now   func() time.Time
	pause func(ctx context.Context, d time.Duration) bool // pane.Sleep, or a test's clock
	keys  *input.Keys
	theme view.Theme

	// The colors of the person's terminal, once it has reported them.
	foreground, background term.Color

	cols, rows int
	lay        view.Layout
	fits       bool // the screen is large enough to work on

	mode        mode
	tabs        []*tab
	sessions    []broker.Session // of the safe view, by their numbers
	active      int              // index of the focused tab
	previous    broker.SessionID // session of the tab shown before, for /last
	groups      []group
	focuses     int // how often a tab got the focus
	line        input.Line
	prefilled   string        // the command that a key after the prefix has put on the line; empty: none
	begun       time.Time     // when the person began the line
	begunStep   int           // the step of the tour at which the person opened the command line
	prefixAsked time.Time     // since when the question about a prefix key has been on the screen, or zero
	phraseShown time.Time     // since when the note about the phrase has been on the screen, or zero
	pressed     time.Time     // when the person last pressed a key or pasted
	pressedKey  rune          // the code of the key pressed last
	quiet       time.Duration // between the last key and the one before; 0 for a key that is held down
	answered    rune          // the key that has decided a call or answered a question, until another one is pressed
	menuState   menuState
	executed    []input.Piece // the line of the command that is being carried out
	question    *question
	approvals   panel.Queue
	strip       view.Rect // where the newest scene shows the strip; empty when it does not
	toasts      view.Toasts
	copying     copymode.State
	help        view.List
	searched    searched  // in help
	following   following // the log of a start, when the list shows one
	picker      picker
	messages    view.Messages
	answering   bool          // a key or a click is being handled
	here        here.Question // with modeHere
	agents      []broker.Agent
	touched     bool   // the person has pressed a key, or was here before, so the intro is not shown
	reviewed    string // the hash of the policy that was shown, until it is put in force
	landing     landing
	opening     int // requests for new sessions that are not answered yet

	seq         uint64 // number of the scene published last
	dirty       bool   // something that is drawn has changed since
	ticking     bool   // a tickMsg is on its way
	announced   time.Time
	titled      string    // the title of the person's window
	titledAt    time.Time // when it was set
	retitling   bool      // a retitleMsg is on its way
	copies      programCopies
	muted       bool // nothing is announced
	quitting    bool
	detached    bool
	listed      bool // the open sessions are known
	placed      bool // it is decided which tab has the keyboard first
	typeAhead   typeAhead
	later       tea.Cmd   // work to start once Update returns
	editing     bool      // the person's editor has the terminal
	prefixed    bool      // the prefix key was pressed, and the next key belongs to it
	repeatUntil time.Time // until when a key that resizes a pane needs no prefix
	pasting     pasteState
	dragging    dragState
	grip        layout.Grip // the border that is dragged
	clicks      clicks
	copied      []byte           // the last selection, which the middle button pastes
	grabbed     *tab             // a mouse button was pressed over its program and is not released yet
	claimed     map[rune]bool    // keys held down whose press was for the multiplexer
	focusedID   broker.SessionID // the session whose program was told that it has the focus
	stalled     bool             // the person's terminal takes no output
	outerLost   bool             // the person's terminal has lost the focus
}

// newModel makes the model of an empty multiplexer.
func newModel(ctx context.Context, o Options, out sink, tasks *pane.Tasks) (*Model, error) {
	o = o.withDefaults()
	theme, err := view.ThemeByName(o.Theme)
	if err != nil {
		return nil, err
	}
	bound, err := input.Bind(o.choice())
	if err != nil {
		return nil, err
	}
	mux := o.Mux
	if mux == nil {
		mux = pane.NewMux(ctx, tasks, term.Options{Engine: o.Engine, Scrollback: o.Scrollback})
	}
	return &Model{
		ctx:     ctx,
		o:       o,
		api:     o.API,
		tasks:   tasks,
		sink:    out,
		gate:    pane.NewGate(),
		mux:     mux,
		now:     time.Now,
		pause:   pane.Sleep,
		keys:    bound,
		claimed: map[rune]bool{},
		theme:   theme,
	}, nil
}

// Init implements tea.Model. The first tab is opened when the size is known.
func (m *Model) Init() tea.Cmd { return m.fetchAgents() }

// View implements tea.Model. Frames do not go out through Bubble Tea.
func (m *Model) View() tea.View { return tea.View{} }

// current returns the focused tab, or nil when there is none.
func (m *Model) current() *tab {
	if m.active < 0 || m.active >= len(m.tabs) {
		return nil
	}
	return m.tabs[m.active]
}

// tabOf returns the tab of a session, or nil.
func (m *Model) tabOf(id broker.SessionID) *tab {
	for _, t := range m.tabs {
		if t.session.ID == id {
			return t
		}
	}
	return nil
}

// indexOf returns the place of a session in the tab bar, or -1.
func (m *Model) indexOf(id broker.SessionID) int {
	for i, t := range m.tabs {
		if t.session.ID == id {
			return i
		}
	}
	return -1
}

// running counts the tabs whose agent has not ended.
func (m *Model) running() int {
	n := 0
	for _, t := range m.tabs {
		if t.running() {
			n++
		}
	}
	return n
}

// show focuses the tab at an index of the bar.
func (m *Model) show(i int) {
	if i < 0 || i >= len(m.tabs) {
		return
	}
	if t := m.current(); t != nil && i != m.active {
		m.previous = t.session.ID
		t.follow()
		m.did(tour.Showed)
	}
	m.active = i
	m.focuses++
	m.tabs[i].focused = m.focuses
	m.tabs[i].unseen, m.tabs[i].done = false, false
	m.dragging = dragState{}
	m.arrange()
}

// step focuses the tab n places further; after the last comes the first.
func (m *Model) step(n int) {
	if len(m.tabs) > 0 {
		m.show(((m.active+n)%len(m.tabs) + len(m.tabs)) % len(m.tabs))
	}
}
