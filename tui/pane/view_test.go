package pane

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// terminal is an agent's terminal whose output a test writes.
type terminal struct {
	broker.Terminal
	out   *io.PipeReader
	agent *io.PipeWriter
}

func newTerminal() *terminal {
	r, w := io.Pipe()
	return &terminal{out: r, agent: w}
}

func (t *terminal) FormerSize() (cols, rows int) { return 0, 0 }

func (t *terminal) History() int64 { return 0 }
func (t *terminal) CopyTo(w io.Writer) error {
	_, err := io.Copy(w, t.out)
	return err
}
func (t *terminal) Write(p []byte) (int, error)            { return len(p), nil }
func (t *terminal) TryWrite(p []byte) (int, error)         { return len(p), nil }
func (t *terminal) Resize(context.Context, int, int) error { return nil }
func (t *terminal) Close() error                           { return t.out.Close() }

// api has one terminal.
type api struct {
	broker.API
	terminal *terminal
	asked    int
}

func (a *api) Attach(context.Context, broker.SessionID) (broker.Terminal, error) {
	a.asked++
	return a.terminal, nil
}

// watcher is a user interface that counts the calls of its hooks.
type watcher struct {
	shown, woken, changed chan struct{}
	ended                 chan error
	events                chan term.Event
}

func newWatcher() *watcher {
	const room = 100
	return &watcher{make(chan struct{}, room), make(chan struct{}, room), make(chan struct{}, room), make(chan error, room), make(chan term.Event, room)}
}

func (w *watcher) hooks() Hooks {
	return Hooks{
		Wake:    func() { w.woken <- struct{}{} },
		Show:    func() { w.shown <- struct{}{} },
		Changed: func() { w.changed <- struct{}{} },
		Ended:   func(err error) { w.ended <- err },
		Event:   func(ev term.Event) { w.events <- ev },
	}
}

// newMux makes a Mux that ends with the test.
func newMux(t *testing.T) *Mux {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	tasks := new(Tasks)
	m := NewMux(ctx, tasks, term.Options{Scrollback: 100})
	t.Cleanup(func() {
		m.Close()
		cancel()
		if !tasks.Wait(time.Minute) {
			t.Error("a goroutine does not end")
		}
	})
	return m
}

func (m *Mux) add(t *testing.T, w *watcher) *View {
	t.Helper()
	v, err := m.View(broker.Session{ID: "s", Tab: 1}, term.Options{Cols: 100, Rows: 30}, w.hooks())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The pane has the size of the view in which it was used last. Watching does not change the size,
// a small window makes the pane smaller only after Fit, and when a view leaves, the pane gets the
// size of the only other view.
func TestSizeIsThatOfTheLastUse(t *testing.T) {
	m := newMux(t)
	a, b := m.add(t, newWatcher()), m.add(t, newWatcher())
	want := func(when string, cols, rows int) {
		t.Helper()
		if c, r := a.Screen.Size(); c != cols || r != rows {
			t.Errorf("%s: %dx%d, want %dx%d", when, c, r, cols, rows)
		}
	}
	a.SetSize(120, 40, false)
	want("opened", 120, 40)
	b.SetVisible(true)
	b.SetSize(90, 30, false)
	want("watched", 120, 40)
	b.Use()
	want("used elsewhere", 90, 30)
	a.SetSize(200, 50, false)
	want("a window that is only watched grows", 90, 30)
	b.SetSize(40, 20, true)
	want("a small window", 90, 30)
	b.Fit()
	want("/fit", 40, 20)
	a.Use()
	want("used again", 200, 50)
	b.Use()
	want("fitted no more", 200, 50)
	b.SetSize(100, 40, false)
	want("no small window any more", 100, 40)
	a.SetVisible(true)
	b.Leave()
	want("left alone", 200, 50)
	a.Leave()
	c := m.add(t, newWatcher())
	c.SetSize(80, 24, false)
	want("attached", 200, 50)
	c.Send([]byte("x"))
	want("typed", 80, 24)
}

// The pane never has the size of a view that only watches. When a view begins to watch, the pane
// gets another view's size, unless several others show the pane or the only other one watches, too.
func TestWatchersNeverHaveTheSize(t *testing.T) {
	m := newMux(t)
	a, b, c := m.add(t, newWatcher()), m.add(t, newWatcher()), m.add(t, newWatcher())
	for v, cols := range map[*View]int{a: 100, b: 110, c: 120} {
		v.SetSize(cols, 30, false)
		v.SetVisible(true)
	}
	want := func(when string, cols int) {
		t.Helper()
		if got, _ := a.Screen.Size(); got != cols {
			t.Errorf("%s: %d columns, want %d", when, got, cols)
		}
	}
	b.SetWatching(true)
	b.Use()
	b.Fit()
	want("a watcher", 100)
	a.SetWatching(true)
	want("the only other one", 120)
	a.SetWatching(false)
	want("it counts again, and has not been used", 120)
	a.Use()
	want("used", 100)
	b.SetWatching(false)
	a.SetWatching(true)
	want("two others", 100)
	c.Use()
	b.SetWatching(true)
	c.Leave()
	want("the others watch", 120)
}

// hanging is an API whose sessions never have an agent.
type hanging struct{ broker.API }

func (hanging) Attach(ctx context.Context, _ broker.SessionID) (broker.Terminal, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A view that leaves does not wait for the agent.
func TestAViewLeavesWhileTheAgentStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newMux(t).add(t, newWatcher()).Connect(ctx, hanging{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A view that is added later gets the present state: the screen, the title, the name and the end.
// The hooks of a view that has left are not called.
func TestPanesOutliveTheirViews(t *testing.T) {
	m := newMux(t)
	broken := errors.New("the agent is gone")
	api := &api{terminal: newTerminal()}
	first := newWatcher()
	v := m.add(t, first)
	v.SetVisible(true)
	if err := v.Connect(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(api.terminal.agent, text); err != nil {
			t.Fatal(err)
		}
	}
	say("\x1b]0;my title\a hello")
	<-first.shown
	if ev := <-first.events; ev.Title != "my title" {
		t.Errorf("the title is %q", ev.Title)
	}
	v.Leave()
	say("\r\nnobody looks\x1b]0;later\a")
	say(" ") // handled when the former was
	second := newWatcher()
	w := m.add(t, second)
	w.SetVisible(true)
	if err := w.Connect(t.Context(), api); err != nil || api.asked != 1 {
		t.Errorf("%v, attached %d times", err, api.asked)
	}
	if ev := <-second.events; ev.Title != "later" {
		t.Errorf("the title is %q", ev.Title)
	}
	if lines := w.Screen.Text(0, 2); !w.Connected() || len(lines) < 2 || lines[1] != "nobody looks" {
		t.Errorf("it shows %q", lines)
	}
	say("watched")
	<-second.woken // nobody has used it there
	w.Use()
	say("used")
	<-second.shown
	_ = api.terminal.agent.CloseWithError(broken)
	if err := <-second.ended; !errors.Is(err, broken) {
		t.Errorf("the end: %v", err)
	}
	third := newWatcher()
	if err := m.add(t, third).Connect(t.Context(), api); err != nil {
		t.Error(err)
	}
	if err := <-third.ended; !errors.Is(err, broken) {
		t.Errorf("the end, later: %v", err)
	}
	if len(first.ended) > 0 || len(first.events) > 0 || len(second.ended) > 0 {
		t.Error("a view has heard too much")
	}
	m.Keep(nil, time.Now())
	if again := m.add(t, newWatcher()); again.Pane == w.Pane {
		t.Error("a session that is gone keeps its pane")
	}
}

// When a view leaves, its unfilled places in the queue block no other view, and a first prompt is
// sent once.
func TestLeftUnfinished(t *testing.T) {
	m := newMux(t)
	a, b := m.add(t, newWatcher()), m.add(t, newWatcher())
	slot := a.Reserve()
	b.Queue.Put([]byte("typed"))
	a.Leave()
	if k, ok := b.Queue.take(t.Context()); !ok || string(k.data) != "typed" {
		t.Errorf("the queue gives %q", k.data)
	}
	if a.Fill(slot, []string{"late"}, 0) {
		t.Error("a place that was given back is filled")
	}
	a.SetFirst(input.Pasted("do it"))
	if first := b.TakeFirst(); input.TextOf(first) != "do it" || a.TakeFirst() != nil || b.First() != nil {
		t.Errorf("the first prompt is %q", input.TextOf(first))
	}
}

// The effect of /fit ends when the program is used in another view, also in a small window, and
// when the view leaves or stalls, so that no other view keeps a size that it did not ask for.
func TestFitEnds(t *testing.T) {
	m := newMux(t)
	large := m.add(t, newWatcher())
	large.SetSize(200, 50, false)
	large.Use()
	want := func(when string, cols, rows int) {
		t.Helper()
		if c, r := large.Screen.Size(); c != cols || r != rows {
			t.Errorf("%s: %dx%d, want %dx%d", when, c, r, cols, rows)
		}
	}
	for how, end := range map[string]func(fitted, other *View){
		"used in another small window":         func(_, other *View) { other.Use() },
		"used in the large one":                func(_, _ *View) { large.Use() },
		"the view leaves":                      func(fitted, _ *View) { fitted.Leave() },
		"the view stalls":                      func(fitted, _ *View) { fitted.SetWatching(true) },
		"made smaller, then used elsewhere":    func(fitted, other *View) { fitted.SetSize(30, 15, true); other.Use() },
		"made larger, then the view leaves":    func(fitted, _ *View) { fitted.SetSize(60, 20, true); fitted.Leave() },
		"asked for again, then used by typing": func(fitted, other *View) { fitted.Fit(); other.Send([]byte("x")) },
	} {
		fitted, other := m.add(t, newWatcher()), m.add(t, newWatcher())
		other.SetSize(50, 22, true)
		fitted.SetSize(40, 20, true)
		fitted.Use()
		want("before: "+how, 200, 50)
		fitted.Fit()
		want("/fit", 40, 20)
		end(fitted, other)
		want(how, 200, 50)
		fitted.Leave()
		other.Leave()
	}
}

// A tab has the size of the view in which it was opened, even if another view showed it first.
func TestOpeningIsUse(t *testing.T) {
	m := newMux(t)
	other, opener := m.add(t, newWatcher()), m.add(t, newWatcher())
	other.SetSize(200, 50, false)
	opener.SetSize(40, 20, true)
	opener.Open(80, 24)
	other.SetSize(201, 50, false)
	if cols, rows := opener.Screen.Size(); cols != 80 || rows != 24 || opener.HasSize() {
		t.Errorf("%dx%d", cols, rows)
	}
	opener.SetSize(100, 30, false)
	if cols, rows := opener.Screen.Size(); cols != 100 || rows != 30 || !opener.HasSize() || other.HasSize() {
		t.Errorf("in a larger window: %dx%d", cols, rows)
	}
	opener.SetWatching(true)
	opener.Open(90, 25)
	if cols, _ := opener.Screen.Size(); cols != 100 {
		t.Errorf("opened in a view that only watches: %d columns", cols)
	}
}

// A pane takes one terminal. It closes any further one and says why, and so does a closed pane.
func TestAttachRefuses(t *testing.T) {
	v := newMux(t).add(t, newWatcher())
	if err := v.Attach(newTerminal()); err != nil {
		t.Fatal(err)
	}
	refused := func(want error) {
		t.Helper()
		further := newTerminal()
		if err := v.Attach(further); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if _, err := further.agent.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the further terminal is open: %v", err)
		}
	}
	refused(errAttached)
	v.Close()
	refused(errClosed)
}
