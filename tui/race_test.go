package tui

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// TestKeystrokeRace lets calls begin and cease to wait at random moments while a person
// types into the agent and on the command line, and pastes. No key may become a decision,
// get lost or change its place.
func TestKeystrokeRace(t *testing.T) {
	const injections = 10_000
	r := newHarness(t, 80, 24, demo())
	r.state(1, broker.StateIdle)
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"yes ", "y", "a", "d", "\r", "approve", "/approve\r", "/approve all\r", "/deny\r", "\x1b[C", "\t", "漢字", "q", "\x05", "w", "A", " "}
	var want strings.Builder
	received := ""
	next, waiting := 0, []int{}
	inject := func() {
		if len(waiting) > 0 && random.IntN(3) == 0 {
			n := waiting[0]
			waiting = waiting[1:]
			r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: fmt.Sprintf("e%d", n), Number: n, Outcome: broker.Expired}}})
			return
		}
		next++
		waiting = append(waiting, next)
		e := escalation(next, `{"path":"/etc/hosts"}`, "")
		r.send(brokerMsg{broker.Event{Escalation: &e}})
	}
	types := func(s string) {
		for _, b := range input.Clusters(s) {
			if random.IntN(2) == 0 {
				inject()
			}
			r.now = r.now.Add(time.Duration(random.IntN(900)) * time.Millisecond)
			if random.IntN(2) == 0 {
				r.paint()
			}
			r.keys(b)
		}
	}
	for next < injections {
		switch word := words[random.IntN(len(words))]; random.IntN(6) {
		case 0: // sent from the command line
			text := strings.Trim(strings.Map(printable, word), " /[?") + "x"
			types("\x01")
			types(text + "\r")
			want.WriteString(text + "\r")
		case 1: // pasted
			inject()
			r.keys("\x1b[200~" + word)
			inject()
			r.keys("/approve\r" + "\x1b[201~")
			want.WriteString(word + "/approve\r")
		default:
			if strings.HasPrefix(word, "\x1b") {
				inject()
				r.keys(word)
			} else {
				types(word)
			}
			want.WriteString(word)
		}
		received += r.drain(1)
	}
	if n := len(r.broker.decisions()); n != 0 {
		t.Errorf("%d decisions were made by typing", n)
	}
	if received != want.String() {
		at := 0
		for at < len(received) && at < want.Len() && received[at] == want.String()[at] {
			at++
		}
		t.Errorf("input changed on the way at byte %d of %d: got %q, want %q", at, want.Len(),
			cut(received, at), cut(want.String(), at))
	}
}

func printable(r rune) rune {
	if r < ' ' {
		return -1
	}
	return r
}

func cut(s string, at int) string { return s[max(0, at-20):min(len(s), at+20)] }

// drain takes the input that waits in a tab's queue.
func (r *harness) drain(tab int) string {
	s := r.queued(tab)
	r.m.numbered(tab).pane.Queue.Discard()
	return s
}

// TestFastApprove types /approve so fast around the moment a call begins to
// wait that nobody can have read it.
func TestFastApprove(t *testing.T) {
	const line = "\x01/approve\r"
	for at := range len(line) {
		for _, step := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			r := newHarness(t, 80, 24, demo())
			for i, key := range input.Clusters(line) {
				if i == at {
					r.escalate(1, `{"path":"/etc/hosts"}`, "")
				}
				r.keys(key)
				if r.scene.Report {
					r.send(paintedMsg{r.scene.Seq, r.now})
				}
				r.now = r.now.Add(step)
			}
			if n := len(r.broker.decisions()); n != 0 {
				t.Errorf("decided before key %d at %v a key", at, step)
			}
		}
	}
}

// TestKeystrokeRaceInAPty does the same with real terminals and at the speed of the
// machine: ten thousand calls begin and cease to wait at random moments while keys, pastes
// and lines of the command line are sent.
func TestKeystrokeRaceInAPty(t *testing.T) {
	const (
		injections = 10_000
		ahead      = 20 // words; one processor would do little but type
	)
	b := newFakeBroker()
	got := make(chan string, 1)
	const end = "\x04"
	b.agent = func(x *fakeTerminal) {
		_, _ = x.agentW.Write([]byte("ready"))
		var all strings.Builder
		buf := make([]byte, 4096)
		for !strings.HasSuffix(all.String(), end) {
			n, err := x.agentR.Read(buf)
			if err != nil {
				return
			}
			all.Write(buf[:n])
		}
		got <- all.String()
		_, _ = io.Copy(io.Discard, x.agentR)
	}
	p := startMux(t, b, demo())
	p.sees("ready")
	stop, stopped := make(chan struct{}), make(chan struct{})
	var injected atomic.Int64
	began := make(chan struct{}, 1) // lossy: another call began to wait
	go func() {
		defer close(stopped)
		random := rand.New(rand.NewPCG(5, 6))
		for n := 1; ; n++ {
			injected.Store(int64(n))
			wakes(began)
			e := escalation(n, `{"path":"/etc/hosts"}`, "")
			done := broker.Resolution{ID: e.ID, Number: n, Outcome: broker.Expired}
			for _, ev := range []broker.Event{{Escalation: &e}, {Resolution: &done}} {
				select {
				case b.events <- ev:
				case <-stop:
					return
				}
				for range random.IntN(4) { // let keys come in between
					runtime.Gosched()
				}
			}
		}
	}()
	var want strings.Builder
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"yes ", "/approve\r", "a", "y\r", "d", "/approve all\r", "\x1b[200~/approve\r\x1b[201~"}
	for typed := int64(0); injected.Load() < injections; typed++ {
		for typed > injected.Load()+ahead {
			select {
			case <-began:
			case <-time.After(patience):
				t.Fatalf("after %d calls no other began to wait", injected.Load())
			}
		}
		word := words[random.IntN(len(words))]
		switch random.IntN(10) {
		case 0:
			word = "\x01\x01" + word
		case 1: // sent from the command line, with a paste in it
			p.types("\x01go \x1b[200~/approve\x1b[201~ on\r")
			want.WriteString("go /approve on\r")
			continue
		}
		p.types(word)
		word = strings.ReplaceAll(word, "\x01\x01", "\x01")
		want.WriteString(strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "").Replace(word))
	}
	p.types(end)
	want.WriteString(end)
	select {
	case s := <-got:
		if s != want.String() {
			at := 0
			for at < len(s) && at < want.Len() && s[at] == want.String()[at] {
				at++
			}
			t.Errorf("input changed on the way at byte %d of %d: got %q, want %q", at, want.Len(), cut(s, at), cut(want.String(), at))
		}
	case <-time.After(patience):
		t.Error("the input did not arrive")
	}
	close(stop)
	<-stopped
	if n := len(b.decisions()); n != 0 {
		t.Errorf("%d decisions were made by typing", n)
	}
	p.types("\x01/quit!\r")
	p.leaves()
}
