package pane

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Hooks are the functions by which a pane reaches a user interface. None of them blocks.
type Hooks struct {
	Wake    func()              // asks for a frame
	Show    func()              // asks for a frame, and may paint it before it returns
	Changed func()              // called when the pane has its first text or another size
	Ended   func(err error)     // called once, when the agent's terminal has ended
	Event   func(ev term.Event) // called for what the program asks for besides drawing
}

// View is one user interface's view of a pane. The pane has the size of the view in which its
// program was used last, so that a person who only watches does not change it.
type View struct {
	*Pane
	hooks   Hooks
	visible atomic.Bool
	limited atomic.Bool // the person may only watch; this never ends

	former *error // of the terminal's end before the view was added; nil if it had not ended

	// The pane's mutex guards these.
	cols, rows int
	small      bool  // the person's window is too small to make a larger pane smaller
	fitted     bool  // Fit was called: the window makes a larger pane smaller although it is small
	watching   bool  // the pane never has the size of this view
	slots      []int // places in the queue that this view has reserved
}

// View adds a view to the pane. It wants the pane's present size.
func (p *Pane) View(hooks Hooks) *View {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &View{Pane: p, hooks: hooks, cols: p.cols, rows: p.rows, former: p.ended}
	views := append(slices.Clone(*p.views.Load()), v)
	p.views.Store(&views)
	if !p.opened {
		p.opened = true
		p.user.Store(v)
	}
	return v
}

// Connect waits until the session's agent runs and connects the pane to its terminal, unless
// it is connected already. Then Connect passes to the view's hooks what happened before: the
// title that the program has set, and the end of its terminal. When ctx ends, Connect returns,
// but the pane continues to wait, because other views need it, too.
func (v *View) Connect(ctx context.Context, api broker.API) (err error) {
	connected := make(chan error, 1)
	if !v.tasks.Start(func() { connected <- v.connect(api) }) {
		return errClosed
	}
	select {
	case err = <-connected:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	v.mu.Lock()
	title := v.title
	v.mu.Unlock()
	if title.Title != "" {
		v.hooks.Event(title)
	}
	if v.former != nil {
		v.hooks.Ended(*v.former)
	}
	return err
}

// Leave removes the view. If the program was used last in this view and exactly one other view
// shows the pane, the pane gets the size of that other view.
func (v *View) Leave() {
	p := v.Pane
	p.mu.Lock()
	defer p.mu.Unlock()
	views := slices.DeleteFunc(slices.Clone(*p.views.Load()), func(x *View) bool { return x == v })
	p.views.Store(&views)
	for _, slot := range v.slots { // nobody fills them now, and keys wait behind them
		p.Queue.Release(slot)
	}
	p.handOver(v)
}

// SetWatching sets whether the view only watches. The pane never gets the size of such a view.
func (v *View) SetWatching(watching bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watching = watching || v.limited.Load(); v.watching {
		v.handOver(v)
	}
}

// Limit makes the view watch only, for ever: nothing that is typed in it reaches the agent, and
// the pane never gets its size, even if there is no other view.
func (v *View) Limit() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.user.Load() == v {
		v.opened = false // the next view counts as the first
	}
	v.limited.Store(true)
	v.watching = true
	v.handOver(v)
}

// Put is InputQueue.Put. It drops what is typed in a limited view.
func (v *View) Put(data []byte) bool { return v.limited.Load() || v.Queue.Put(data) }

// PutLast is InputQueue.PutLast. It drops what is typed in a limited view.
func (v *View) PutLast(data []byte) bool { return v.limited.Load() || v.Queue.PutLast(data) }

// SetColors is Pane.SetColors. Programs do not get the colors of a limited view's terminal.
func (v *View) SetColors(foreground, background term.Color) {
	if !v.limited.Load() {
		v.Pane.SetColors(foreground, background)
	}
}

// handOver is called when the pane must no longer have the size of a view. If it had that size, it
// gets the size of the only other view that shows the pane and does not just watch. If there are
// several, the pane keeps its size until the program is used in one. The caller holds the mutex.
func (p *Pane) handOver(v *View) {
	if p.user.Load() != v {
		return
	}
	p.user.Store(nil)
	p.endFit(v)
	var only *View
	for _, x := range *p.views.Load() {
		if x != v && x.visible.Load() && !x.watching {
			if only != nil {
				return
			}
			only = x
		}
	}
	if only != nil {
		p.use(only)
	}
}

// Visible reports whether the view shows the pane.
func (v *View) Visible() bool { return v.visible.Load() }

// SetVisible sets whether the view shows the pane.
func (v *View) SetVisible(visible bool) { v.visible.Store(visible) }

// SetSize sets the size that the view wants. The pane gets this size if its program was used last
// in this view. A small window does not make a larger pane smaller.
func (v *View) SetSize(cols, rows int, small bool) {
	v.mu.Lock()
	v.cols, v.rows, v.small = cols, rows, small
	if v.user.Load() == v {
		v.fit(v)
	}
	v.mu.Unlock()
}

// Use records that the person uses the program in this view.
func (v *View) Use() {
	if v.user.Load() == v {
		return
	}
	v.mu.Lock()
	v.use(v)
	v.mu.Unlock()
}

// Send types to the agent: at once if the agent accepts the bytes without blocking, otherwise
// through the queue. It reports false when the queue is full; the bytes that the agent did not
// accept are lost then.
func (v *View) Send(data []byte) bool {
	if v.limited.Load() {
		return true
	}
	v.Use()
	v.priority.keyTyped()
	return v.Queue.writeOrPut(data, v.tryWrite)
}

// Reserve reserves a place in the queue, until Fill, Release or Leave.
func (v *View) Reserve() int {
	slot := v.Queue.Reserve()
	v.mu.Lock()
	v.slots = append(v.slots, slot)
	v.mu.Unlock()
	return slot
}

// Fill is Queue.Fill.
func (v *View) Fill(slot int, steps []string, pause time.Duration) bool {
	v.forgetSlot(slot)
	if v.limited.Load() {
		v.Queue.Release(slot)
		return false
	}
	return v.Queue.Fill(slot, steps, pause)
}

// Release is Queue.Release.
func (v *View) Release(slot int) {
	v.forgetSlot(slot)
	v.Queue.Release(slot)
}

func (v *View) forgetSlot(slot int) {
	v.mu.Lock()
	v.slots = slices.DeleteFunc(v.slots, func(s int) bool { return s == slot })
	v.mu.Unlock()
}

// Open records that the person opened the tab in this view, and gives the pane its first size.
func (v *View) Open(cols, rows int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.watching {
		v.use(v)
		v.setSize(cols, rows)
	}
}

// use makes a view the one in which the program was used last, unless it only watches. The caller
// holds the mutex.
func (p *Pane) use(v *View) {
	if v.watching {
		return
	}
	if former := p.user.Swap(v); former != nil && former != v {
		p.endFit(former)
	}
	p.fit(v)
}

// Fit gives the pane the size that the view wants, however small it is, until its program is
// used in another view, or the view leaves or only watches. The pane then has its former size
// again, so that the agent does not write narrow lines for a window that is gone.
func (v *View) Fit() {
	v.mu.Lock()
	v.fitted = v.small && !v.watching
	v.use(v)
	v.mu.Unlock()
}

// endFit undoes Fit for a view. The caller holds the mutex.
func (p *Pane) endFit(v *View) {
	v.fitted = false
	if size := p.unfitted; size[0] > 0 {
		p.unfitted = [2]int{}
		p.setSize(size[0], size[1])
	}
}

// HasSize reports whether the pane has the size that the view wants, or is about to have it.
func (v *View) HasSize() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Pane.cols == v.cols && v.Pane.rows == v.rows
}

// fit gives the pane the size that a view wants. The caller holds the mutex.
func (p *Pane) fit(v *View) {
	smaller := v.cols < p.cols || v.rows < p.rows
	switch {
	case !v.small:
		p.unfitted = [2]int{}
	case smaller && !v.fitted:
		return
	case smaller && p.unfitted[0] == 0:
		p.unfitted = [2]int{p.cols, p.rows}
	}
	p.setSize(v.cols, v.rows)
}

// visible reports whether any view shows the pane.
func (p *Pane) visible() bool {
	for _, v := range *p.views.Load() {
		if v.visible.Load() {
			return true
		}
	}
	return false
}

// wake asks every view that shows the pane for a frame.
func (p *Pane) wake() {
	for _, v := range *p.views.Load() {
		if v.visible.Load() {
			v.hooks.Wake()
		}
	}
}

// changed calls Changed of every view.
func (p *Pane) changed() {
	for _, v := range *p.views.Load() {
		v.hooks.Changed()
	}
}
