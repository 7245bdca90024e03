package view

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

// Display is the person's terminal as the compositor uses it.
type Display interface {
	Await()
	Write(frame []byte) (int, error)
	TryWrite(frame []byte) (int, error) // as paint.QuickWriter says
	WhenShown(shown func(at time.Time)) // calls shown once everything written so far is on the screen
	Ready() bool                        // reports whether the terminal takes a small frame without waiting
	SetKeyboard(flags uint8) error
	SetMouse(mode keys.MouseMode) error
	SetTitle(title string) error
	AskColors() error
	Bell() error
	Notify(title, text string) error
	Copy(text string) error
	Edit(ctx context.Context, argv []string, name string, text []byte) error
}

// Request asks the person's terminal for something besides drawing cells, such as a bell.
type Request func(d Display) error

// maxRequests is how many requests may wait for a slow terminal; later ones are dropped.
const maxRequests = 16

// Compositor draws scenes. Whenever the model publishes a scene or a visible pane has new
// output, it composes the panes' cells and the chrome into one canvas, and the painter
// sends the difference. Nothing else writes to the person's terminal.
type Compositor struct {
	out     Display
	mouse   bool
	painted func(seq uint64, at time.Time) // called when the terminal shows a scene with Report set
	loop    *paint.Loop
	painter *paint.Painter
	canvas  *paint.Canvas
	echoed  func() // called when Show has painted a frame

	scene    atomic.Pointer[Scene]
	requests chan Request // bounded, lossy

	modes     sync.Mutex
	keyboard  uint8
	mouseMode keys.MouseMode
	asked     chan struct{} // capacity 1, lossy: keyboard or mouse mode changed
	stale     atomic.Bool   // everything must be painted again, because another program had the terminal

	// Only the goroutine that paints uses these fields; there is one at a time.
	drawn    *Scene
	chrome   []*term.Frame
	frames   map[*term.Screen]*term.Frame
	reported uint64
}

// NewCompositor makes the compositor of a terminal. It calls echoed when Show has painted
// a frame, and painted when the terminal shows a scene with Report set.
func NewCompositor(out Display, profile paint.ColorProfile, mouse bool, echoed func(), painted func(uint64, time.Time)) *Compositor {
	c := &Compositor{
		echoed:    echoed,
		out:       out,
		mouse:     mouse,
		painted:   painted,
		painter:   paint.NewPainter(paint.Options{Colors: profile}),
		canvas:    paint.NewCanvas(1, 1),
		requests:  make(chan Request, maxRequests),
		asked:     make(chan struct{}, 1),
		mouseMode: keys.MouseDrag,
		frames:    map[*term.Screen]*term.Frame{},
	}
	c.loop = paint.NewLoop(c, out.Ready, c.painter, c.Draw)
	return c
}

// Publish replaces the scene that is drawn.
func (c *Compositor) Publish(s *Scene) {
	c.scene.Store(s)
	c.loop.Wake()
}

// Wake requests a frame because the screen of a visible pane has changed.
func (c *Compositor) Wake() { c.loop.Wake() }

// Show does the same as Wake, and may paint the frame before it returns. The goroutine that wrote
// the change to the screen calls Show.
func (c *Compositor) Show() {
	if c.loop.Show() {
		c.echoed()
	}
}

// Request queues a request for Serve. It drops the request if the queue is full.
func (c *Compositor) Request(r Request) {
	select {
	case c.requests <- r:
	default:
	}
}

// Edit shows text in a program that has the terminal to itself until it ends.
func (c *Compositor) Edit(ctx context.Context, argv []string, name string, text []byte) error {
	err := c.out.Edit(ctx, argv, name, text)
	c.Repaint()
	return err
}

// Repaint paints everything again after another program has used the terminal.
func (c *Compositor) Repaint() {
	c.stale.Store(true)
	c.loop.Wake()
}

// Answered passes the terminal's reply to a query on to the painter.
func (c *Compositor) Answered(r keys.Reply) { c.painter.Answer(r) }

// Run paints until ctx ends or the terminal is gone.
func (c *Compositor) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// Serve carries out requests until ctx ends. It has a goroutine of its own so that requests
// and painting do not wait for each other; the terminal still writes one thing at a time.
// It ignores the error of a request: when the terminal is gone, Run returns that error.
func (c *Compositor) Serve(ctx context.Context) {
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
func (c *Compositor) Await() { c.out.Await() }

// Write sends a frame to the terminal. If the scene has Report set, painted is called once the terminal
// shows the scene. While another program has the terminal, Write drops frames and does not
// call painted.
func (c *Compositor) Write(frame []byte) (int, error) {
	n, err := c.out.Write(frame)
	return c.written(frame, n, err)
}

// TryWrite is Write without waiting: it writes as much of the frame as the terminal accepts at once.
func (c *Compositor) TryWrite(frame []byte) (int, error) {
	n, err := c.out.TryWrite(frame)
	return c.written(frame, n, err)
}

// written handles the result of writing n bytes of a frame.
func (c *Compositor) written(frame []byte, n int, err error) (int, error) {
	if errors.Is(err, outer.ErrLent) {
		return len(frame), nil
	}
	if err == nil && n == len(frame) && c.drawn.Report && c.reported != c.drawn.Seq {
		seq := c.drawn.Seq
		c.reported = seq
		c.out.WhenShown(func(at time.Time) { c.painted(seq, at) })
	}
	return n, err
}

// Draw composes the newest scene. It runs on the goroutine that paints.
func (c *Compositor) Draw() *paint.Canvas {
	s := c.scene.Load()
	if s == nil {
		return nil
	}
	if s != c.drawn {
		c.setScene(s)
	}
	if c.stale.Swap(false) {
		c.painter.Invalidate()
	}
	var focused *placed
	for i, p := range s.Panes {
		f := c.snapshot(p)
		at := p.shown(f)
		x, y := p.origin(f)
		c.canvas.Frame(at.X, at.Y, at.W, at.H, f, x, y)
		c.canvas.Repeat(at.X+at.W, at.Y, p.At.W-at.W, at.H, p.Margin)
		c.canvas.Repeat(at.X, at.Y+at.H, p.At.W, p.At.H-at.H, p.Margin)
		for _, mark := range p.Marks {
			style := p.Style
			c.canvas.Restyle(p.At.X+mark.From, p.At.Y+mark.Y, min(mark.To, p.At.W)-mark.From, 1,
				func(term.Style) term.Style { return style })
		}
		if i == s.Focus {
			focused = &placed{f, at, x, y}
		}
	}
	for i, layer := range s.Layers {
		c.canvas.Frame(layer.At.X, layer.At.Y, layer.At.W, layer.At.H, c.chrome[i], 0, 0)
	}
	c.placeCursor(s, focused)
	return c.canvas
}

// setScene makes a scene the one that is drawn, and drops frames that only the former scene needed.
func (c *Compositor) setScene(s *Scene) {
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
	c.assignFrames(s.Panes)
}

// assignFrames gives every pane a frame. Panes that become visible reuse the frames of panes that are
// no longer visible, because the cells of a whole screen need much memory.
func (c *Compositor) assignFrames(panes []PlacedPane) {
	kept := make(map[*term.Screen]*term.Frame, len(panes))
	for _, p := range panes {
		if f := c.frames[p.Screen]; f != nil {
			kept[p.Screen] = f
			delete(c.frames, p.Screen)
		}
	}
	for _, p := range panes {
		if kept[p.Screen] != nil {
			continue
		}
		f := new(term.Frame)
		for former, spare := range c.frames {
			f = spare
			delete(c.frames, former)
			break
		}
		kept[p.Screen] = f
	}
	c.frames = kept
}

// snapshot brings a pane's frame up to date, unless its program is in the middle of a
// synchronized update, and returns it.
func (c *Compositor) snapshot(p PlacedPane) *term.Frame {
	f := c.frames[p.Screen]
	screen := p.Screen
	if p.Scrolled {
		screen.SnapshotAt(f, p.Top, p.Dropped)
	} else {
		screen.Follow(f)
	}
	return f
}

// placed is a frame in a part of the window, from its cell x, y on.
type placed struct {
	*term.Frame
	at   Rect
	x, y int
}

// placeCursor shows the cursor of the chrome, or else the focused program's cursor if no layer hides it.
// It also requests the keyboard and mouse modes that the program wants.
func (c *Compositor) placeCursor(s *Scene, focused *placed) {
	c.canvas.HideCursor()
	if focused != nil {
		at, cur, x, y := focused.at, focused.Cursor, focused.x, focused.y
		if focused.Offset == 0 && !s.covers(at.X+cur.X-x, at.Y+cur.Y-y) {
			c.canvas.FrameCursor(at.X, at.Y, at.W, at.H, focused.Frame, x, y)
		}
		c.follow(focused.Modes)
	}
	if s.Cursor != nil {
		c.canvas.SetCursor(*s.Cursor)
	}
}

// follow notes the modes of the focused program; Serve sets them on the terminal.
func (c *Compositor) follow(m keys.Modes) {
	mouse := keys.MouseDrag
	if m.Mouse == keys.MouseMotion {
		mouse = keys.MouseMotion
	}
	c.modes.Lock()
	same := c.keyboard == m.Kitty && c.mouseMode == mouse
	c.keyboard, c.mouseMode = m.Kitty, mouse
	c.modes.Unlock()
	if !same {
		select {
		case c.asked <- struct{}{}:
		default:
		}
	}
}
