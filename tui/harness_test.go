package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

func TestMain(m *testing.M) {
	if os.Getenv(panicVariable) != "" {
		panicWhileRunning()
		return
	}
	goleak.VerifyTestMain(m)
}

// testTime is when every test takes place.
var testTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// harness drives a model by hand: messages go in, commands run at once, scenes
// come out.
type harness struct {
	t        testing.TB
	m        *Model
	broker   *fakeBroker
	now      time.Time
	scene    *view.Scene
	requests int
	asked    int // how often the colors were asked for
	titles   []string
	notified []string
	copied   []string
	edited   []editing
	editErr  error
	ready    *readyMsg
	finished []finishedMsg
	cancel   context.CancelFunc
	decoder  keys.Decoder
	quit     bool
}

// editing is one call of the editor.
type editing struct {
	argv       []string
	name, text string
}

// publish and the others make the harness a sink.
func (r *harness) Publish(s *view.Scene) { r.scene = s }
func (r *harness) Wake()                 {}
func (r *harness) Show()                 {}
func (r *harness) Answered(keys.Reply)   {}
func (r *harness) Edit(_ context.Context, argv []string, name string, text []byte) error {
	r.edited = append(r.edited, editing{argv, name, string(text)})
	return r.editErr
}
func (r *harness) Request(ask view.Request) { _ = ask(&recorder{harness: r}) }

// recorder is a display that records the requests it gets.
type recorder struct{ harness *harness }

func (d *recorder) SetTitle(title string) error {
	d.harness.titles = append(d.harness.titles, title)
	return nil
}

func (d *recorder) AskColors() error                                     { d.harness.asked++; return nil }
func (d *recorder) Await()                                               {}
func (d *recorder) Write(p []byte) (int, error)                          { return len(p), nil }
func (d *recorder) TryWrite(p []byte) (int, error)                       { return len(p), nil }
func (d *recorder) WhenShown(func(time.Time))                            {}
func (d *recorder) Ready() bool                                          { return true }
func (d *recorder) SetKeyboard(uint8) error                              { return nil }
func (d *recorder) SetMouse(keys.MouseMode) error                        { return nil }
func (d *recorder) Edit(context.Context, []string, string, []byte) error { return nil }
func (d *recorder) Bell() error                                          { d.harness.requests++; return nil }

func (d *recorder) Notify(title, text string) error {
	d.harness.requests++
	d.harness.notified = append(d.harness.notified, title+": "+text)
	return nil
}

func (d *recorder) Copy(text string) error {
	d.harness.copied = append(d.harness.copied, text)
	return nil
}

// newHarness makes a model of a given size with its first tab opened and attached.
func newHarness(t testing.TB, cols, rows int, o Options) *harness {
	t.Helper()
	r := bareHarness(t, o)
	r.send(sizeMsg{cols, rows})
	return r
}

func bareHarness(t testing.TB, o Options) *harness {
	t.Helper()
	r := &harness{t: t, broker: newFakeBroker(), now: testTime}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	o.API = r.broker
	c := &pane.Tasks{}
	m, err := newModel(ctx, o, r, c)
	if err != nil {
		t.Fatal(err)
	}
	m.now = func() time.Time { return r.now }
	m.send, m.post = func(tea.Msg) {}, func(tea.Msg) {}
	m.ticking = true // tests move the clock
	m.pause = func(context.Context, time.Duration) bool { return true }
	r.m = m
	t.Cleanup(func() {
		cancel()
		m.mux.Close()
		c.Wait(patience)
		for _, term := range r.broker.terminals() {
			_ = term.Close()
		}
	})
	r.run(m.Init())
	return r
}

// send gives the model a message and carries out the command that it returns.
func (r *harness) send(msg tea.Msg) {
	_, cmd := r.m.Update(msg)
	r.run(cmd)
}

// run carries out a command and feeds back its message.
func (r *harness) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case msg := <-done:
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				r.run(c)
			}
		case readyMsg: // tests decide when the model checks again
			r.ready = &msg
		case finishedMsg: // tests decide when the time has passed
			r.finished = append(r.finished, msg)
		case retitleMsg, copyMsg: // tests decide when the time has passed
		case tea.QuitMsg:
			r.quit = true
		case attachedMsg:
			// The harness has no agents: what is typed stays in the queue.
			if errors.Is(msg.err, errNoAgent) {
				msg.err = nil
			}
			r.send(msg)
		default:
			r.send(msg)
		}
	case <-time.After(patience):
		r.t.Fatal("a command does not return")
	}
}

// keys types bytes as the person's terminal sends them, and delivers the events that follow.
func (r *harness) keys(bytes string) {
	in := intake{model: r.m, send: r.send, await: func(context.Context) {}}
	in.take(r.t.Context(), append(r.decoder.Feed([]byte(bytes)), r.decoder.Flush()...))
	r.hear()
}

// paint reports the newest scene as painted and lets time pass.
func (r *harness) paint() {
	if r.scene.Report {
		r.send(paintedMsg{r.scene.Seq, r.now})
	}
	r.now = r.now.Add(time.Second)
}

// agentSays writes to the screen of a tab, as its agent would.
func (r *harness) agentSays(tab int, text string) {
	r.t.Helper()
	t := r.m.numbered(tab)
	if t == nil {
		r.t.Fatalf("no tab %d", tab)
	}
	t.pane.Feed([]byte(text))
}

// queued returns the input that waits in a tab's queue.
func (r *harness) queued(tab int) string {
	return r.m.numbered(tab).pane.Queue.String()
}

// screen returns the newest scene as text. The last line says where the cursor is.
func (r *harness) screen() string {
	c := view.NewCompositor(&recorder{harness: r}, paint.TrueColor, false, func() {}, func(uint64, time.Time) {})
	c.Publish(r.scene)
	canvas := c.Draw()
	cols, rows := canvas.Size()
	var b strings.Builder
	for y := range rows {
		var line strings.Builder
		for x := range cols {
			cell := canvas.Cell(x, y)
			switch {
			case cell.Width == 0:
			case cell.Rune == 0:
				line.WriteByte(' ')
			default:
				line.WriteRune(cell.Rune)
				line.WriteString(cell.Marks)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	if cur := r.scene.Cursor; cur != nil && cur.Visible {
		fmt.Fprintf(&b, "[cursor %d,%d]\n", cur.X, cur.Y)
	}
	return b.String()
}

// wants fails unless the screen contains all of these texts.
func (r *harness) wants(parts ...string) {
	r.t.Helper()
	screen := r.screen()
	for _, p := range parts {
		if !strings.Contains(screen, p) {
			r.t.Fatalf("not on the screen: %q\n%s", p, screen)
		}
	}
}

// escalate lets a call wait for the person.
func (r *harness) escalate(n int, args, requested string) broker.Escalation {
	e := escalation(n, args, requested)
	r.broker.mu.Lock()
	r.broker.pending = append(r.broker.pending, e)
	r.broker.mu.Unlock()
	r.send(brokerMsg{broker.Event{Kind: broker.EventEscalation, Escalation: &e}})
	return e
}

func escalation(n int, args, requested string) broker.Escalation {
	return broker.Escalation{
		ID: fmt.Sprintf("e%d", n), Number: n, Session: "s1", Agent: "claude-code", Plane: "tool",
		Server: "filesystem", Tool: "write_file",
		Arguments: json.RawMessage(args), Requested: json.RawMessage(requested),
		Rule: "outside-workspace", Reason: "the path is outside the workspace",
		Digest: "9f86d081884c7d65", AskedAt: testTime, ExpiresAt: testTime.Add(5 * time.Minute),
	}
}

// state changes a session's state as the broker would.
func (r *harness) state(tab int, state broker.SessionState) {
	t := r.m.numbered(tab)
	s := t.session
	s.State = state
	r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
}

// hear delivers the events of the broker, with the state that the tabs have here.
func (r *harness) hear() {
	for len(r.broker.events) > 0 {
		e := <-r.broker.events
		if t := r.m.tabOf(e.Session.ID); t != nil {
			s := t.session
			s.Tab, s.Name = e.Session.Tab, e.Session.Name
			r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
		}
	}
}

// clipboard is a program's request to copy to the clipboard.
func clipboard(text string) term.Event {
	return term.Event{Kind: term.EventClipboard, Data: []byte(text)}
}

// msgOf is the broker's event for a call that begins to wait.
func msgOf(e broker.Escalation) broker.Event {
	return broker.Event{Kind: broker.EventEscalation, Escalation: &e}
}

// commandKey is Ctrl-A.
func commandKey() keys.Event {
	return keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: 'a', Mods: keys.Ctrl}}
}

// wakes wakes the goroutine that waits on a lossy channel of capacity 1.
func wakes(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
