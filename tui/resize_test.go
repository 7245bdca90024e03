package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// TestResizeIsDebounced changes the size a hundred times within a second.
func TestResizeIsDebounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, 80, 24, Options{})
		p := r.m.numbered(1).pane
		x := newFakeTerminal()
		ended := make(chan struct{})
		x.run(func(*fakeTerminal) { <-ended })
		if err := p.Attach(x); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		<-time.After(time.Second)
		for i := range 100 {
			r.send(sizeMsg{80 + i, 24})
			<-time.After(time.Millisecond)
		}
		<-time.After(pane.ResizeEvery)
		synctest.Wait()
		x.mu.Lock()
		defer x.mu.Unlock()
		if n := len(x.sizes) - 1; n > 3 || x.sizes[len(x.sizes)-1] != [2]int{179, 22} {
			t.Errorf("%d resizes, the last to %v", n, x.sizes[len(x.sizes)-1])
		}
		p.Close()
		close(ended)
		<-x.done
	})
}

// A program that has asked for reports of its size gets them when the size changes, and
// not only when it writes something again.
func TestResizeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, 80, 24, Options{})
		p := r.m.numbered(1).pane
		_, _ = p.Screen.Write([]byte("\x1b[?2048h"))
		p.Screen.TakeReplies()
		x := newFakeTerminal()
		read := make([]byte, 64)
		x.run(func(x *fakeTerminal) {
			n, _ := x.agentR.Read(read)
			read = read[:n]
		})
		if err := p.Attach(x); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		<-time.After(time.Second)
		r.send(sizeMsg{100, 30})
		<-x.done
		if got := string(read); got != "\x1b[48;28;100;560;1000t" {
			t.Errorf("the agent reads %q", got)
		}
		p.Close()
	})
}
