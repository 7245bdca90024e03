package tui

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
)

// display is the person's terminal as the compositor uses it.
type display interface {
	Await()
	Write(frame []byte) (int, error)
	Ready() bool // a small frame is taken without waiting
	SetKeyboard(flags uint8) error
	SetMouse(mode keys.MouseMode) error
	SetTitle(title string) error
	AskColors() error
	Bell() error
	Notify(title, text string) error
	Copy(text string) error
	Edit(ctx context.Context, argv []string, name string, text []byte) error
}

// request is something besides cells that the person's terminal shall do.
type request func(d display) error

// maxRequests is how many requests wait for a terminal that takes nothing;
// later ones are dropped.
const maxRequests = 16

// compositor draws scenes. Whenever the model publishes a scene or a visible
// pane has new output it composes the panes' cells and the chrome into one
// canvas, and the painter sends the difference. It is the only one who writes
// to the person's terminal.
type compositor struct {
	out      display
	mouse    bool
	painted  func(seq uint64, at time.Time) // a scene that asked for it is on screen
	loop     *paint.Loop
	painter  *paint.Painter
	canvas   *paint.Canvas
	priority *inputPriority

	scene    atomic.Pointer[scene]
	requests chan request // bounded, lossy

	modes     sync.Mutex
	keyboard  uint8
	mouseMode keys.MouseMode
	asked     chan struct{} // capacity 1, lossy: keyboard or mouse mode changed
	stale     atomic.Bool   // something else had the terminal: nothing of what was painted is left

	// What follows is used by one goroutine at a time: the one that paints.
	drawn    *scene
	chrome   []*term.Frame
	frames   map[*pane]*term.Frame
	reported uint64
}

func newCompositor(out display, profile paint.ColorProfile, mouse bool, priority *inputPriority, painted func(uint64, time.Time)) *compositor {
	c := &compositor{
		priority:  priority,
		out:       out,
		mouse:     mouse,
		painted:   painted,
		painter:   paint.NewPainter(paint.Options{Colors: profile}),
		canvas:    paint.NewCanvas(1, 1),
		requests:  make(chan request, maxRequests),
		asked:     make(chan struct{}, 1),
		mouseMode: keys.MouseDrag,
		frames:    map[*pane]*term.Frame{},
	}
	c.loop = paint.NewLoop(c, out.Ready, c.painter, c.draw)
	return c
}

// publish implements sink.
func (c *compositor) publish(s *scene) {
	c.scene.Store(s)
	c.loop.Wake()
}

// wake implements sink.
func (c *compositor) wake() { c.loop.Wake() }

// show implements sink.
func (c *compositor) show() {
	if c.loop.Show() {
		c.priority.echoPainted()
	}
}

// request implements sink.
func (c *compositor) request(r request) {
	select {
	case c.requests <- r:
	default:
	}
}

// edit implements sink.
func (c *compositor) edit(ctx context.Context, argv []string, name string, text []byte) error {
	err := c.out.Edit(ctx, argv, name, text)
	c.anew()
	return err
}

// anew paints everything once more: something else has used the terminal.
func (c *compositor) anew() {
	c.stale.Store(true)
	c.loop.Wake()
}

// answered implements sink.
func (c *compositor) answered(r keys.Reply) { c.painter.Answer(r) }

// serve carries out requests, apart from the painting so that neither waits for
// the other's decisions; the terminal writes one thing at a time. A request that
// fails is no reason to end: that the terminal is gone shows in the painting.
func (c *compositor) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-c.requests:
			_ = r(c.out)
		case <-c.asked:
			c.modes.Lock()
			keyboard, mouse := c.keyboard, c.mouseMode
			c.modes.Unlock()
			_ = c.out.SetKeyboard(keyboard)
			if c.mouse {
				_ = c.out.SetMouse(mouse)
			}
		}
	}
}

// Await implements paint.Awaiter.
func (c *compositor) Await() { c.out.Await() }

// Write sends a frame to the terminal, and reports the scene it was made of. While
// another program has the terminal frames go nowhere and are not reported.
func (c *compositor) Write(frame []byte) (int, error) {
	n, err := c.out.Write(frame)
	if errors.Is(err, outer.ErrLent) {
		return len(frame), nil
	}
	if err == nil && c.drawn.Report && c.reported != c.drawn.Seq {
		c.reported = c.drawn.Seq
		c.painted(c.drawn.Seq, time.Now())
	}
	return n, err
}

// draw composes the newest scene. It runs on the goroutine that paints.
func (c *compositor) draw() *paint.Canvas {
	s := c.scene.Load()
	if s == nil {
		return nil
	}
	if s != c.drawn {
		c.take(s)
	}
	if c.stale.Swap(false) {
		c.painter.Invalidate()
	}
	var focused *term.Frame
	for i, p := range s.Panes {
		f := c.snapshot(p)
		c.canvas.Frame(p.At.X, p.At.Y, p.At.W, p.At.H, f)
		for _, mark := range p.Marks {
			style := p.Style
			c.canvas.Restyle(p.At.X+mark.From, p.At.Y+mark.Y, min(mark.To, p.At.W)-mark.From, 1,
				func(term.Style) term.Style { return style })
		}
		if i == s.Focus {
			focused = f
		}
	}
	for i, layer := range s.Layers {
		c.canvas.Frame(layer.At.X, layer.At.Y, layer.At.W, layer.At.H, c.chrome[i])
	}
	c.placeCursor(s, focused)
	return c.canvas
}

// take makes a scene the one that is drawn, and forgets what only the former
// one needed.
func (c *compositor) take(s *scene) {
	former := c.drawn
	c.drawn = s
	c.canvas.Resize(s.Cols, s.Rows)
	for _, p := range s.Panes {
		if former != nil && !former.shows(p) {
			c.canvas.Redraw(p.At.X, p.At.Y, p.At.W, p.At.H)
		}
	}
	c.chrome = c.chrome[:0]
	for _, layer := range s.Layers {
		c.chrome = append(c.chrome, layer.frame())
	}
	c.keep(s.Panes)
}

// keep gives every pane a frame, those that are not seen any more theirs to those
// that come to be seen: cells for a whole screen are large.
func (c *compositor) keep(panes []placedPane) {
	kept := make(map[*pane]*term.Frame, len(panes))
	for _, p := range panes {
		if f := c.frames[p.Pane]; f != nil {
			kept[p.Pane] = f
			delete(c.frames, p.Pane)
		}
	}
	for _, p := range panes {
		if kept[p.Pane] != nil {
			continue
		}
		f := new(term.Frame)
		for former, spare := range c.frames {
			f = spare
			delete(c.frames, former)
			break
		}
		kept[p.Pane] = f
	}
	c.frames = kept
}

// snapshot brings a pane's frame up to date, unless its program is in the
// middle of a synchronized update.
func (c *compositor) snapshot(p placedPane) *term.Frame {
	f := c.frames[p.Pane]
	screen := p.Pane.screen
	switch {
	case p.Scrolled:
		screen.SnapshotAt(f, p.Top, p.Dropped)
	case f.Rows == 0 || f.Offset != 0 || !screen.Held():
		screen.Snapshot(f, 0)
	}
	return f
}

// placeCursor shows the chrome's cursor or that of the focused program, and
// brings keyboard and mouse into the modes the program asked for.
func (c *compositor) placeCursor(s *scene, focused *term.Frame) {
	c.canvas.HideCursor()
	if focused != nil {
		at := s.Panes[s.Focus].At
		if focused.Offset == 0 {
			c.canvas.FrameCursor(at.X, at.Y, at.W, at.H, focused)
		}
		c.follow(focused.Modes)
	}
	if s.Cursor != nil {
		c.canvas.SetCursor(*s.Cursor)
	}
}

// follow notes the modes of the focused program.
func (c *compositor) follow(m keys.Modes) {
	mouse := keys.MouseDrag
	if m.Mouse == keys.MouseMotion {
		mouse = keys.MouseMotion
	}
	c.modes.Lock()
	same := c.keyboard == m.Kitty && c.mouseMode == mouse
	c.keyboard, c.mouseMode = m.Kitty, mouse
	c.modes.Unlock()
	if !same {
		signal(c.asked)
	}
}
