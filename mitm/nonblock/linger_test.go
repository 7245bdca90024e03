package nonblock

import (
	"os"
	"testing"
	"time"
)

// pretender has bytes, or has not.
type pretender struct {
	ready bool
	asked int
}

func (p *pretender) Await(time.Duration) bool {
	p.asked++
	return p.ready
}

// Who never answers at once is asked ever more seldom, and who does again always.
func TestLingerGivesUp(t *testing.T) {
	var l Linger
	p := &pretender{}
	for range 100_000 {
		l.Wait(p, true)
	}
	if p.asked < 90 || p.asked > 120 {
		t.Errorf("it was looked for %d times", p.asked)
	}
	p.ready = true
	for range lingerRests + 1 {
		l.Wait(p, true)
	}
	p.asked = 0
	for range 100 {
		l.Wait(p, true)
	}
	if p.asked != 100 {
		t.Errorf("who answers was looked for %d times of 100", p.asked)
	}
	l.Wait(p, false)
	for range lingerCrowd {
		l.Wait(p, true)
	}
	if p.asked != 100 {
		t.Error("it was looked for among others")
	}
	if l.Wait(p, true); p.asked != 101 {
		t.Error("it is not looked for any more")
	}
}

func TestAwait(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	s := New(r)
	if awaits && s.Await(time.Millisecond) {
		t.Error("there is something in an empty pipe")
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = w.Write([]byte("x"))
	}()
	if !s.Await(time.Minute) {
		t.Error("what was written is not there")
	}
	<-said
	if n, err := s.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	_ = w.Close()
	if !s.Await(time.Minute) {
		t.Error("the end is not noticed")
	}
	_ = r.Close()
	if s.Await(time.Minute) {
		t.Error("there is something in a closed pipe")
	}
}
