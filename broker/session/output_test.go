package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// collector takes a number of bytes and then fails.
type collector struct {
	bytes.Buffer
	room  int
	wrote chan struct{} // capacity 1, lossy
}

func newCollector(room int) *collector { return &collector{room: room, wrote: make(chan struct{}, 1)} }

var errFull = errors.New("full")

func (c *collector) Write(p []byte) (int, error) {
	n, err := c.Buffer.Write(p[:min(len(p), c.room-c.Len())])
	if n < len(p) {
		err = errFull
	}
	select {
	case c.wrote <- struct{}{}:
	default:
	}
	return n, err
}

func never() bool { return false }

// TestOutputLosesNothingBetweenAttachments attaches three sinks: one fails in the middle
// of a chunk, one detaches, and the third gets the rest.
func TestOutputLosesNothingBetweenAttachments(t *testing.T) {
	source, agent := io.Pipe()
	began := make(chan struct{})
	o := newOutput(source, func() { close(began) })
	go o.run()
	go func() { _, _ = agent.Write([]byte("hello world")) }()
	<-began
	full := newCollector(5)
	if err := o.copyTo(full, never); !errors.Is(err, errFull) {
		t.Errorf("a sink that failed: %v", err)
	}
	second, left, ended := newCollector(100), false, make(chan error)
	go func() { ended <- o.copyTo(second, func() bool { return left }) }()
	<-second.wrote
	o.change(func() { left = true })
	if err := <-ended; err != nil {
		t.Errorf("a sink that left: %v", err)
	}
	go func() {
		_, _ = agent.Write([]byte("and more"))
		_ = agent.Close()
	}()
	third := newCollector(100)
	if err := o.copyTo(third, never); err != nil {
		t.Errorf("a sink at the end: %v", err)
	}
	<-o.drained
	if got := []string{full.String(), second.String(), third.String()}; got[0] != "hello" || got[1] != " world" || got[2] != "and more" {
		t.Errorf("taken: %q", got)
	}
}

// TestOutputStops ends the output while no sink is attached.
func TestOutputStops(*testing.T) {
	source, agent := io.Pipe()
	began := make(chan struct{})
	o := newOutput(source, func() { close(began) })
	go o.run()
	go func() { _, _ = agent.Write([]byte("never taken")) }()
	<-began
	o.end()
	<-o.drained
	_ = agent.Close()
}

// former is an agent that was taken back. Its first bytes are from before that.
type former struct {
	program
	output io.Reader
}

func (f former) Read(p []byte) (int, error) { return f.output.Read(p) }
func (former) History() int64               { return int64(len("before ")) }

// TestAttachTellsWhatIsOld attaches twice to an agent that was taken back. Each
// attachment says how many bytes are old, so that no terminal query in them is answered
// again.
func TestAttachTellsWhatIsOld(t *testing.T) {
	f := former{output: strings.NewReader("before and after")}
	s := &Session{program: f, output: newOutput(f, func() {}), started: make(chan struct{})}
	close(s.started)
	go s.output.run()
	for _, want := range []int64{7, 4} {
		terminal, err := s.Attach(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := terminal.History(); got != want {
			t.Errorf("%d bytes are old, want %d", got, want)
		}
		_ = terminal.CopyTo(newCollector(3)) // it takes no more than that
		terminal.Close()
	}
}

// Output that is held gives what it has read ahead, and goes on where it was.
func TestOutputIsHeld(t *testing.T) {
	source, agent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	began := make(chan struct{})
	o := newOutput(source, func() { close(began) })
	go o.run()
	if _, err := agent.WriteString("ahead "); err != nil {
		t.Fatal(err)
	}
	<-began
	hold := func(want string) {
		t.Helper()
		_ = source.SetReadDeadline(time.Unix(1, 0))
		if ahead, _ := o.hold(); string(ahead) != want {
			t.Errorf("read ahead: %q, want %q", ahead, want)
		}
		_ = source.SetReadDeadline(time.Time{})
		o.release()
	}
	hold("ahead ")
	sink, left := newCollector(100), false
	ended := make(chan error)
	go func() { ended <- o.copyTo(sink, func() bool { return left }) }()
	<-sink.wrote
	o.change(func() { left = true })
	if err := <-ended; err != nil {
		t.Error(err)
	}
	hold("")
	if _, err := agent.WriteString("and after"); err != nil {
		t.Fatal(err)
	}
	_ = agent.Close()
	if err := o.copyTo(sink, never); err != nil || sink.String() != "ahead and after" {
		t.Errorf("%q, %v", sink.String(), err)
	}
	<-o.drained
}
