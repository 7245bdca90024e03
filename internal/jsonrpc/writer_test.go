package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// gate is a writer that lets nothing through until it is opened.
type gate struct {
	mu     sync.Mutex
	open   chan struct{}
	err    error
	writes []string
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	g.writes = append(g.writes, string(b))
	return len(b), nil
}

// Lines that come while one is written go together in the next write, whole and
// in their order; who left one does not wait.
func TestLinesShareAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, nil, nil)
		go func() { _ = w.Send([]byte("first")) }()
		synctest.Wait()
		for i := range 5 {
			if err := w.Send(fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		close(g.open)
		w.Settle()
		if want := []string{"first\n", "0\n1\n2\n3\n4\n"}; !slices.Equal(g.writes, want) {
			t.Errorf("writes %q", g.writes)
		}
	})
}

// What waits for a reader that does not read is bounded.
func TestLinesThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, nil, nil)
		line := bytes.Repeat([]byte("x"), maxWaiting/4)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { _ = w.Send(line) })
		}
		synctest.Wait()
		w.mu.Lock()
		if n := len(w.lines); n > maxWaiting+1 {
			t.Errorf("%d bytes wait", n)
		}
		w.mu.Unlock()
		close(g.open)
		group.Wait()
		w.Settle()
		if all := strings.Join(g.writes, ""); all != strings.Repeat(string(line)+"\n", 20) {
			t.Errorf("%d bytes were written", len(all))
		}
	})
}

// A long line is not left to another's write: until it is written, its caller has what
// it takes of the room.
func TestALongLineIsWrittenByItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, nil, nil)
		go func() { _ = w.Send([]byte("first")) }()
		synctest.Wait()
		written := make(chan error, 1)
		go func() { written <- w.Send(bytes.Repeat([]byte("x"), maxWaiting+1)) }()
		synctest.Wait()
		if len(written) > 0 {
			t.Error("a long line was left behind")
		}
		close(g.open)
		if err := <-written; err != nil {
			t.Error(err)
		}
		w.Settle()
	})
}

// An error reaches those who left their lines to somebody else's write.
func TestAWriteThatFailsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{}), err: errors.New("gone")}
		var told error
		w := NewWriter(g, nil, func(err error) { told = err })
		go func() { _ = w.Send([]byte("first")) }()
		synctest.Wait()
		if err := w.Send([]byte("second")); err != nil {
			t.Fatal(err)
		}
		close(g.open)
		synctest.Wait()
		if !errors.Is(told, g.err) || !errors.Is(w.Send([]byte("third")), g.err) {
			t.Errorf("told %v", told)
		}
	})
}
