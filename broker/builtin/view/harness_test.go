package view

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream is a terminal's input that takes any amount at once.
type stream struct {
	mu    sync.Mutex
	more  *sync.Cond
	bytes []byte
	ended bool
}

func newStream() *stream {
	s := &stream{}
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *stream) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.bytes) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		s.more.Wait()
	}
	n := copy(p, s.bytes)
	s.bytes = s.bytes[n:]
	return n, nil
}

func (s *stream) put(b []byte, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = append(s.bytes, b...)
	s.ended = s.ended || ended
	s.more.Broadcast()
}

// desk is a person at a terminal that shows a view.
type desk struct {
	t       *testing.T
	screen  *term.Screen
	keys    *stream
	events  chan builtin.Event
	resized chan struct{}
	agent   *fake
	cancel  context.CancelFunc
	done    chan error

	mu      sync.Mutex
	changed chan struct{}
	reports []string
	raw     strings.Builder
}

// Write is the terminal.
func (d *desk) Write(p []byte) (int, error) {
	_, _ = d.screen.Write(p)
	if answers := d.screen.TakeReplies(); len(answers) > 0 {
		d.keys.put(answers, false)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.raw.Write(p)
	close(d.changed)
	d.changed = make(chan struct{})
	return len(p), nil
}

func (d *desk) note(e term.Event) {
	if e.Kind == term.EventStatus {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.reports = append(d.reports, e.Text)
	}
}

func (d *desk) reported() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.ReplaceAll(strings.Join(d.reports, " "), ":app=ironcurtain", "")
}

// sit opens a view. Change changes the options.
func sit(t *testing.T, cols, rows int, change func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, keys: newStream(), events: make(chan builtin.Event), resized: make(chan struct{}, 1), done: make(chan error, 1), changed: make(chan struct{})}
	var err error
	if d.screen, err = term.NewScreen(term.Options{Cols: cols, Rows: rows, Notify: d.note}); err != nil {
		t.Fatal(err)
	}
	d.agent = &fake{events: d.events, asked: make(chan string, 100), orders: make(chan func(context.Context) error), codes: map[int]string{}}
	o := Options{In: d.keys, Out: d, Size: d.screen.Size, Resized: d.resized, Events: d.events, Agent: d.agent}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d.cancel = cancel
	go func() { d.done <- Run(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if d.done != nil {
			d.leaves()
		}
		d.keys.put(nil, true)
		d.screen.Close()
	})
	d.sees("\n>")
	return d
}

// leaves waits for the end of Run.
func (d *desk) leaves() {
	d.t.Helper()
	select {
	case err := <-d.done:
		if err != nil {
			d.t.Error(err)
		}
	case <-time.After(20 * time.Second):
		d.t.Errorf("the view has not ended:\n%s", d.text())
	}
	d.done = nil
}

func (d *desk) types(s string) { d.keys.put([]byte(s), false) }

// text is what there is to see, with the scrollback.
func (d *desk) text() string {
	lines := d.screen.Text(0, d.screen.LineCount())
	return strings.TrimRight("\n"+strings.Join(lines, "\n"), "\n") + "\n"
}

func (d *desk) until(what string, is func(string) bool) string {
	d.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		text := d.text()
		if is(text) {
			return text
		}
		select {
		case <-changed:
		case <-timeout:
			d.t.Fatalf("no %s:\n%s", what, text)
		}
	}
}

func (d *desk) sees(what string) string {
	d.t.Helper()
	return d.until(what, func(s string) bool { return strings.Contains(s, what) })
}

func (d *desk) misses(what string) {
	d.t.Helper()
	d.until("screen without "+what, func(s string) bool { return !strings.Contains(s, what) })
}

func (d *desk) resize(cols, rows int) {
	d.screen.Resize(cols, rows)
	d.resized <- struct{}{}
}

// emits sends events of the agent.
func (d *desk) emits(es ...builtin.Event) {
	for _, e := range es {
		d.events <- e
	}
}

// golden compares what there is to see with the stored screen.
func (d *desk) golden(name string) {
	d.t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(d.text()), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), d.text()); diff != "" {
		d.t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// fake is an agent whose turns do what the test says.
type fake struct {
	events chan<- builtin.Event
	asked  chan string
	orders chan func(context.Context) error // one for each turn
	past   []builtin.Event

	mu    sync.Mutex
	model string
	codes map[int]string
}

func (f *fake) Turn(ctx context.Context, text string) error {
	f.asked <- text
	f.events <- builtin.Event{Kind: builtin.Asked, Text: text}
	select {
	case do := <-f.orders:
		return do(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) Compact(ctx context.Context) error {
	f.asked <- "/compact"
	f.events <- builtin.Event{Kind: builtin.Notice, Text: "made shorter"}
	return ctx.Err()
}

func (f *fake) UseModel(name string) error {
	if name == "none" {
		return errors.New("model none: no provider has it; try another")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.model = name
	return nil
}

func (f *fake) Model() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return "sonnet" + f.model
}

func (f *fake) Program(n int) (string, bool) {
	code, known := f.codes[n]
	return code, known
}

func (f *fake) Past() []builtin.Event { return f.past }
