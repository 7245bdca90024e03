package reach_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// files echoes what it reads from each stream for files on a link, until the link ends.
func (in *inside) files(l *link.Link) {
	session, err := mux.Inside(l.Bulk())
	if err != nil {
		in.t.Error(err)
		return
	}
	in.running.Go(func() {
		var streams sync.WaitGroup
		defer streams.Wait()
		defer session.Close()
		for {
			_, c, err := session.Accept()
			if err != nil {
				return
			}
			streams.Go(func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
				_ = c.CloseWrite()
			})
		}
	})
}

// fillable is a container that reports on each link, serves files, and starts when it is sent go.
func (in *inside) fillable(begun func()) {
	in.running.Go(func() {
		for l := range in.links {
			in.files(l)
			in.running.Go(func() {
				if link.WriteMessage(l.Typed(), link.Message{Kind: link.Seen, Data: []byte("all is well")}) != nil {
					return
				}
				if m, err := link.ReadMessage(l.Typed()); err != nil || m.Kind != link.Go {
					return
				}
				begun()
				_ = link.WriteMessage(l.Typed(), link.Message{Kind: link.Past, Data: link.PastData(0, 0)})
			})
		}
	})
}

// ask sends size bytes on a connection for files, while carriers are cut, and expects the same back.
func ask(ctx context.Context, s *reach.Stream, size int, cut func()) error {
	c, err := s.OpenFiles(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < size && err == nil; i += 64 << 10 {
			_, err = c.Write(make([]byte, 64<<10))
			cut()
		}
		sent <- err
	}()
	_, err = io.CopyN(io.Discard, c, int64(size))
	return errors.Join(err, <-sent)
}

// A container is filled before its agent starts, even if carriers are cut and the link is replaced.
func TestAContainerIsFilledBeforeItsAgentBegins(t *testing.T) {
	in, o := newInside(t), order()
	var filled, times int
	began := make(chan struct{})
	in.fillable(func() {
		if filled != 2 {
			t.Error("it begins before it is filled")
		}
		close(began)
	})
	s := reach.NewStream()
	t.Cleanup(func() { close(in.links) })
	t.Cleanup(func() { _ = s.Close() })
	o.Fill = func(ctx context.Context) error {
		times++
		if err := ask(ctx, s, 1<<20, in.cut); err != nil {
			t.Errorf("the first link: %v", err)
		}
		filled++
		c, err := s.OpenFiles(ctx)
		if err != nil {
			return err
		}
		in.mu.Lock()
		l := in.link
		in.mu.Unlock()
		_ = l.Close() // as a container's bridge that has enough of it
		if _, err := io.ReadAll(c); err == nil {
			t.Error("a connection outlives its link")
		}
		_ = c.Close()
		if err := ask(ctx, s, 1<<20, in.cut); err != nil {
			t.Errorf("the next link: %v", err)
		}
		filled++
		return nil
	}
	if err := s.Begin(t.Context(), in, in, o); err != nil {
		t.Fatal(err)
	}
	<-began
	if times != 1 {
		t.Errorf("it was filled %d times", times)
	}
	if err := ask(t.Context(), s, 100<<10, func() {}); err != nil {
		t.Errorf("while the agent runs: %v", err)
	}
	if s.RTT() <= 0 {
		t.Error("nobody knows how far the container is")
	}
	_ = s.Close()
	if _, err := s.OpenFiles(t.Context()); err == nil {
		t.Error("a closed stream opens connections")
	}
	if s.RTT() != 0 {
		t.Error("nobody is there, and it has a distance")
	}
}

// An error of Fill ends the attempt, and so does ErrFilled.
func TestFillingEndsTheAttempt(t *testing.T) {
	broken := errors.New("its disk is full")
	for name, tt := range map[string]struct {
		fill func() error
		want error
		op   bool // the error says what was tried
	}{
		"an error": {func() error { return broken }, broken, true},
		"filled":   {func() error { return reach.ErrFilled }, reach.ErrFilled, false},
	} {
		t.Run(name, func(t *testing.T) {
			in, o, s := newInside(t), order(), reach.NewStream()
			t.Cleanup(func() { close(in.links) })
			defer s.Close()
			in.fillable(func() { t.Error("the agent begins") })
			o.Fill = func(context.Context) error { return tt.fill() }
			err := s.Begin(t.Context(), in, in, o)
			if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "reach the container") != tt.op {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// A container that is not confined is not filled.
func TestWhatIsNotConfinedIsNotFilled(t *testing.T) {
	in, o, s := newInside(t), order(), reach.NewStream()
	t.Cleanup(func() { close(in.links) })
	defer s.Close()
	in.fillable(func() { t.Error("the agent begins") })
	o.Check = func([]byte) error { return errors.New("it is not confined") }
	o.Fill = func(context.Context) error { t.Error("it is filled"); return nil }
	if err := s.Begin(t.Context(), in, in, o); err == nil || !strings.Contains(err.Error(), "not confined") {
		t.Errorf("%v", err)
	}
}

// Filling may take any time; afterwards the agent must start in time.
func TestFillingTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, o, s := newInside(t), order(), reach.NewStream()
		in.running.Go(func() {
			l := <-in.links
			in.say(l, link.Message{Kind: link.Seen, Data: []byte("all is well")})
			in.hear(l) // and says nothing to it
		})
		began, end := time.Now(), time.Duration(0)
		o.Fill = func(ctx context.Context) error {
			select {
			case <-time.After(10 * time.Minute):
			case <-ctx.Done():
				t.Error("it is given up")
			}
			end = time.Since(began)
			return nil
		}
		err := s.Begin(t.Context(), in, in, o)
		if took := time.Since(began); err == nil || end != 10*time.Minute || took < end+20*time.Second || took > end+time.Minute {
			t.Errorf("after %v, filled after %v: %v", took, end, err)
		}
		_ = s.Close()
		_ = in.link.Close()
	})
}

// Begin and Close do not wait for a Fill whose context has ended.
func TestGivingUpWhileFilling(t *testing.T) {
	for name, give := range map[string]func(in *inside, cancel context.CancelFunc){
		"the caller":    func(_ *inside, cancel context.CancelFunc) { cancel() },
		"the container": func(in *inside, _ context.CancelFunc) { in.end() },
	} {
		t.Run(name, func(t *testing.T) {
			in, o, s := newInside(t), order(), reach.NewStream()
			t.Cleanup(func() { close(in.links) })
			in.fillable(func() { t.Error("the agent begins") })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o.Fill = func(life context.Context) error {
				c, err := s.OpenFiles(life)
				if err != nil {
					return err
				}
				defer c.Close()
				defer context.AfterFunc(life, func() { _ = c.Close() })()
				give(in, cancel)
				_, err = io.ReadAll(c)
				return errors.Join(err, life.Err())
			}
			err := s.Begin(ctx, in, in, o)
			if err == nil || errors.Is(err, reach.ErrFilled) {
				t.Errorf("%v", err)
			}
			if closed := s.Close(); closed != nil {
				t.Error(closed)
			}
		})
	}
}

// OpenFiles waits until there is a link or its context ends.
func TestOpeningFilesWithoutALink(t *testing.T) {
	s := reach.NewStream()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.OpenFiles(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	opened := make(chan error)
	go func() { _, err := s.OpenFiles(t.Context()); opened <- err }()
	_ = s.Close()
	if err := <-opened; err == nil {
		t.Error("it was opened")
	}
}

// A container that opens a stream for files itself loses its link.
func TestAContainerThatOpensFiles(t *testing.T) {
	in := newInside(t)
	_, l := begin(t, in, order(), "")
	if _, err := l.Bulk().Write([]byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, byte(mux.Files)}); err != nil {
		t.Fatal(err)
	}
	<-l.Done()
}
