package pane

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// stuckTerminal accepts some bytes of a write, and never the rest.
type stuckTerminal struct {
	*terminal
	takes  int
	got    chan string // capacity 1: what it took
	closed context.Context
	close  func()
}

func newStuckTerminal(takes int) *stuckTerminal {
	closed, cancel := context.WithCancel(context.Background())
	return &stuckTerminal{newTerminal(), takes, make(chan string, 1), closed, cancel}
}

func (t *stuckTerminal) TryWrite([]byte) (int, error) { return 0, nil }
func (t *stuckTerminal) Write(p []byte) (int, error) {
	n := min(t.takes, len(p))
	t.got <- string(p[:n])
	<-t.closed.Done()
	return n, io.ErrClosedPipe
}

func (t *stuckTerminal) Close() error {
	t.close()
	return t.terminal.Close()
}

// save returns what a Mux saves.
func save(t *testing.T, m *Mux) []byte {
	t.Helper()
	var b bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := m.Save(ctx, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// scrollback returns a hash of the lines above a screen.
func scrollback(s *term.Screen) uint64 {
	h := fnv.New64a()
	_, rows := s.Size()
	for _, line := range s.Text(0, s.LineCount()-rows) {
		_, _ = io.WriteString(h, line+"\n")
	}
	return h.Sum64()
}

// A pane that was saved and loaded has the same screen, exactly the same waiting input, and the
// same count of bytes read from the agent.
func TestSavedPanesGoOn(t *testing.T) {
	m := newMux(t)
	v := m.add(t, newWatcher())
	v.SetVisible(true)
	agent := newStuckTerminal(3)
	if err := v.Attach(agent); err != nil {
		t.Fatal(err)
	}
	out := "\x1b]0;my title\a" + strings.Repeat("a line\r\n", 50) + "\x1b[31mhalf a character \xe6"
	for _, part := range []string{out[:70], out[70:], "\xbc"} {
		if _, err := io.WriteString(agent.agent, part); err != nil {
			t.Fatal(err)
		}
	}
	slot := v.Reserve()
	v.Send([]byte("typed"))
	if !v.Fill(slot, []string{"abcdef", "\r"}, 50*time.Millisecond) {
		t.Fatal("no place")
	}
	if got := <-agent.got; got != "abc" {
		t.Fatalf("the agent took %q", got)
	}
	v.Reserve() // by a view that will be gone
	v.Queue.Put([]byte("end"))
	v.SetSize(90, 25, false)
	var line input.Line
	line.Insert("do ", false)
	line.Paste("it")
	v.SetFirst(line.Pieces)

	file := save(t, m)
	next := newMux(t)
	if err := next.Load(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	seen := newWatcher()
	w := next.add(t, seen)
	if w.Connected() || w.Silent() || w.received.Load() != int64(len(out)+1) {
		t.Errorf("%v, %d bytes", w.Connected(), w.received.Load())
	}
	if spans := input.SpansOf(w.First()); input.TextOf(w.First()) != "do it" || len(spans) != 2 || spans[0].Pasted || !spans[1].Pasted {
		t.Errorf("the first prompt is %+v", w.First())
	}
	former, err := v.Screen.Save()
	if loaded, err2 := w.Screen.Save(); err != nil || err2 != nil || !bytes.Equal(former, loaded) {
		t.Error("the screen differs", err, err2)
	}
	var got []keystrokes
	for w.Queue.String() != "" {
		k, _ := w.Queue.take(t.Context())
		got = append(got, k)
	}
	if len(got) != 4 || string(got[0].data) != "def" || got[1].pause != 50*time.Millisecond ||
		string(got[1].data) != "\r" || string(got[2].data) != "typed" || string(got[3].data) != "end" {
		t.Errorf("%+v waits", got)
	}
	if cols, rows := w.cols, w.rows; cols != 90 || rows != 25 {
		t.Errorf("the size is %dx%d", cols, rows)
	}
	again := &api{terminal: newTerminal()}
	if err := w.Connect(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if ev := <-seen.events; ev.Title != "my title" {
		t.Errorf("the title is %q", ev.Title)
	}
	w.SetVisible(true)
	w.Use()
	_, _ = io.WriteString(again.terminal.agent, "\xa2on")
	<-seen.shown
	if text := strings.Join(w.Screen.Text(0, 99), "\n"); !strings.HasSuffix(strings.TrimSpace(text), "half a character 漢on") {
		t.Errorf("it shows %q", text[max(0, len(text)-99):])
	}
}

// The end of a terminal is saved too, and the new program does not attach to it again.
func TestSavedEnd(t *testing.T) {
	m := newMux(t)
	first := newWatcher()
	v := m.add(t, first)
	api := &api{terminal: newTerminal()}
	if err := v.Connect(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	_ = api.terminal.agent.CloseWithError(errors.New("the agent is gone"))
	<-first.ended
	next := newMux(t)
	if err := next.Load(bytes.NewReader(save(t, m))); err != nil {
		t.Fatal(err)
	}
	second := newWatcher()
	if err := next.add(t, second).Connect(t.Context(), api); err != nil || api.asked != 1 {
		t.Errorf("%v, attached %d times", err, api.asked)
	}
	if err := <-second.ended; err == nil || err.Error() != "the agent is gone" {
		t.Errorf("the end: %v", err)
	}
}

// A Mux is not saved while it is unknown how many bytes an agent has read, and loading a damaged
// file changes nothing.
func TestNothingIsGuessed(t *testing.T) {
	m := newMux(t)
	v := m.add(t, newWatcher())
	agent := newStuckTerminal(1)
	if err := v.Attach(held{agent}); err != nil {
		t.Fatal(err)
	}
	v.Queue.Put([]byte("xyz"))
	<-agent.got
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Save(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("saved: %v", err)
	}
	_ = agent.Close()
	good := save(t, m)
	next := newMux(t)
	for i := 0; i < len(good); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if next.Load(bytes.NewReader(bad)) == nil || next.Load(bytes.NewReader(good[:i])) == nil {
			t.Fatalf("byte %d of %d does not count", i, len(good))
		}
	}
	if next.Load(bytes.NewReader(append(bytes.Clone(good), 0))) == nil || len(next.panes) != 0 {
		t.Error("a damaged file was loaded")
	}
	if err := next.Load(bytes.NewReader(good)); err != nil || len(next.panes) != 1 {
		t.Error(err)
	}
}

// held is a terminal whose Close does not end a write.
type held struct{ *stuckTerminal }

func (h held) Close() error { return h.terminal.Close() }

// A small window beside a large one changes no line of the scrollback, also when the person
// types in the small one.
func TestSmallViewLeavesScrollback(t *testing.T) {
	m := newMux(t)
	api := &api{terminal: newTerminal()}
	large, small := newWatcher(), newWatcher()
	a := m.add(t, large)
	a.SetSize(200, 50, false)
	a.SetVisible(true)
	if err := a.Connect(t.Context(), api); err != nil {
		t.Fatal(err)
	}
	say := func(text string) {
		t.Helper()
		for _, part := range []string{text, " "} { // handled when the second is taken
			if _, err := io.WriteString(api.terminal.agent, part); err != nil {
				t.Fatal(err)
			}
		}
	}
	say(strings.Repeat(strings.Repeat("a fairly full line of text ", 7)+"\r\n", 90))
	before := scrollback(a.Screen)
	want := func(when string) {
		t.Helper()
		cols, rows := a.Screen.Size()
		if got := scrollback(a.Screen); got != before || cols != 200 || rows != 50 {
			t.Errorf("%s: %dx%d, the scrollback has changed: %v", when, cols, rows, got != before)
		}
	}
	b := m.add(t, small)
	b.SetVisible(true)
	b.SetSize(40, 20, true)
	want("watched in a small window")
	b.Send([]byte("typed"))
	b.Use()
	b.SetSize(39, 19, true)
	want("typed in a small window")
	say("\x1b[Hechoed")
	want("echoed")
	a.Leave()
	want("the large one has left")
	c := m.add(t, newWatcher())
	c.SetSize(200, 50, false)
	c.Use()
	want("the large one is back")
	b.Leave()
	want("the small one has left")
}
