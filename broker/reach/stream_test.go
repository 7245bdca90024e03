package reach_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inside is a container and its engine in this process. A test controls its end of the link.
type inside struct {
	t       *testing.T
	mu      sync.Mutex
	carrier net.Conn        // of the host, in use
	links   chan *link.Link // each new link
	link    *link.Link
	ended   chan docker.Exit
	running sync.WaitGroup
}

func newInside(t *testing.T) *inside {
	t.Helper()
	in := &inside{t: t, links: make(chan *link.Link, 10), ended: make(chan docker.Exit, 1)}
	t.Cleanup(func() {
		in.mu.Lock()
		if in.link != nil {
			_ = in.link.Close()
		}
		in.mu.Unlock()
		in.running.Wait()
	})
	return in
}

func (in *inside) ID() string                   { return "inside" }
func (in *inside) Remove(context.Context) error { return nil }
func (in *inside) HangUp(context.Context) error { return nil }

func (in *inside) FollowMemory(ctx context.Context, _ func()) { <-ctx.Done() }

func (in *inside) Wait(ctx context.Context) (docker.Exit, error) {
	select {
	case exit := <-in.ended:
		return exit, nil
	case <-ctx.Done():
		return docker.Exit{}, ctx.Err()
	}
}

// Stream is an engine's exec: it carries the link that the host's hello names.
func (in *inside) Stream(_ context.Context, id string, argv []string, user string) (net.Conn, error) {
	if id != "inside" || strings.Join(argv, " ") != "bridge carry" || user != "1000:1000" {
		return nil, errors.New("another command was executed")
	}
	host, ours := net.Pipe()
	in.mu.Lock()
	in.carrier = host
	in.mu.Unlock()
	in.running.Go(func() {
		hello, err := link.ReadHello(ours)
		if err != nil {
			_ = ours.Close()
			return
		}
		in.mu.Lock()
		if in.link == nil || in.link.ID() != hello.ID {
			if in.link != nil {
				_ = in.link.Close()
			}
			in.link = link.New(hello.ID)
			in.links <- in.link
		}
		l := in.link
		in.mu.Unlock()
		_ = l.Carry(context.Background(), ours, &hello)
	})
	return host, nil
}

// end ends the container.
func (in *inside) end() { in.ended <- docker.Exit{Code: 137, Reason: "it was killed"} }

// cut breaks the carrier.
func (in *inside) cut() {
	in.mu.Lock()
	defer in.mu.Unlock()
	_ = in.carrier.Close()
}

func (in *inside) say(l *link.Link, m link.Message) {
	in.t.Helper()
	if err := link.WriteMessage(l.Typed(), m); err != nil {
		in.t.Error(err)
	}
}

func (in *inside) hear(l *link.Link) link.Message {
	in.t.Helper()
	m, err := link.ReadMessage(l.Typed())
	if err != nil {
		in.t.Error(err)
	}
	return m
}

func order() reach.Order {
	return reach.Order{
		User: "1000:1000", Carry: []string{"bridge", "carry"}, Cols: 80, Rows: 24,
		Check: func(report []byte) error {
			if string(report) != "all is well" {
				return errors.New("it is not confined")
			}
			return nil
		},
		Tell: func(string) {},
	}
}

// begin starts a stream with a running agent that has written before.
func begin(t *testing.T, in *inside, o reach.Order, before string) (*reach.Stream, *link.Link) {
	t.Helper()
	s := reach.NewStream()
	t.Cleanup(func() { _ = s.Close() })
	links := make(chan *link.Link, 1)
	in.running.Go(func() {
		l := <-in.links
		in.say(l, link.Message{Kind: link.Seen, Data: []byte("all is well")})
		cols, rows, have, err := link.ParseGo(in.hear(l).Data)
		if err != nil || cols != o.Cols || rows != o.Rows || have != o.Have {
			t.Errorf("go with %d×%d, %d bytes: %v", cols, rows, have, err)
		}
		in.say(l, link.Message{Kind: link.Past, Data: link.PastData(0, uint64(len(before)))})
		if before != "" {
			in.say(l, link.Message{Kind: link.Output, Data: []byte(before)})
		}
		links <- l
	})
	if err := s.Begin(t.Context(), in, in, o); err != nil {
		t.Fatal(err)
	}
	return s, <-links
}

func read(t *testing.T, s io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(s, got); err != nil || string(got) != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func TestTheTerminalGoesOnOverCuts(t *testing.T) {
	in := newInside(t)
	s, l := begin(t, in, order(), "")
	for range 20 {
		in.cut()
		if _, err := s.Write([]byte("key")); err != nil {
			t.Fatal(err)
		}
		if m := in.hear(l); m.Kind != link.Keys || string(m.Data) != "key" {
			t.Fatalf("the agent hears %v", m)
		}
		in.say(l, link.Message{Kind: link.Output, Data: []byte("echo")})
		read(t, s, "echo")
	}
	if err := s.Resize(t.Context(), 100, 30); err != nil {
		t.Fatal(err)
	}
	if cols, rows, err := link.ParseSize(in.hear(l).Data); cols != 100 || rows != 30 {
		t.Errorf("%d×%d: %v", cols, rows, err)
	}
	in.say(l, link.Message{Kind: link.Output, Data: []byte("bye")})
	in.say(l, link.Message{Kind: link.Exit, Data: link.ExitData(3)})
	if err := l.Drain(t.Context()); err != nil { // as the bridge does before it ends
		t.Error(err)
	}
	in.ended <- docker.Exit{Code: 3}
	if exit, err := s.Wait(t.Context()); err != nil || exit.Code != 3 {
		t.Errorf("%+v, %v", exit, err)
	}
	if rest, err := io.ReadAll(s); err != nil || string(rest) != "bye" {
		t.Errorf("at the end %q, %v", rest, err)
	}
}

// On the next link the container sends its first report again. It is not judged again, because its
// tokens are gone. The terminal continues where it was.
func TestTheTerminalGoesOnOverAnotherLink(t *testing.T) {
	in, o, judged := newInside(t), order(), 0
	o.Check = func([]byte) error {
		if judged++; judged > 1 {
			return errors.New("it is judged again")
		}
		return nil
	}
	s, l := begin(t, in, o, "before")
	read(t, s, "before")
	_ = l.Close()
	l = <-in.links
	in.say(l, link.Message{Kind: link.Seen, Data: []byte("all is well")})
	if _, _, have, err := link.ParseGo(in.hear(l).Data); err != nil || have != uint64(len("before")) {
		t.Fatalf("it goes on behind %d bytes, %v", have, err)
	}
	in.say(l, link.Message{Kind: link.Past, Data: link.PastData(0, 0)})
	in.say(l, link.Message{Kind: link.Output, Data: []byte("after")})
	read(t, s, "after")
}

func TestConnectionsAreAcceptedByKind(t *testing.T) {
	in := newInside(t)
	s, l := begin(t, in, order(), "")
	inner, err := mux.Inside(l.Bulk())
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	for _, kind := range []mux.Kind{mux.Model, mux.Tools, mux.Ports} {
		agent, err := inner.Open(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Write([]byte{byte(kind)}); err != nil {
			t.Fatal(err)
		}
		host, err := s.Listener(kind).Accept()
		if err != nil {
			t.Fatal(err)
		}
		in.cut()
		if err := agent.CloseWrite(); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(host); err != nil || string(got) != string([]byte{byte(kind)}) {
			t.Errorf("%q, %v", got, err)
		}
		_ = host.Close()
	}
}

func TestAConfinementThatDiffersEndsTheAttempt(t *testing.T) {
	in := newInside(t)
	s := reach.NewStream()
	defer s.Close()
	in.running.Go(func() {
		in.say(<-in.links, link.Message{Kind: link.Seen, Data: []byte("I am root")})
	})
	if err := s.Begin(t.Context(), in, in, order()); err == nil || !strings.Contains(err.Error(), "not confined") {
		t.Errorf("%v", err)
	}
}

func TestAContainerThatEndsBeforeItsAgentSaysWhy(t *testing.T) {
	in := newInside(t)
	s := reach.NewStream()
	defer s.Close()
	in.ended <- docker.Exit{Code: 127, Reason: "no such program"}
	o := order()
	o.Ahead = append([]byte("\x1b]0;title\a"), make([]byte, 100<<10)...) // what an agent wrote is no text for an error
	err := s.Begin(t.Context(), in, in, o)
	if err == nil || !strings.Contains(err.Error(), "no such program") || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 1000 {
		t.Errorf("%.2000v", err)
	}
}

// away is an engine that cannot be reached.
type away struct{}

func (away) Stream(context.Context, string, []string, string) (net.Conn, error) {
	return nil, errors.New("no more \x1b[2J programs")
}

// When the container cannot be reached any more, the person is told once.
func TestNothingLeadsToTheContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, o, told := newInside(t), order(), []string(nil)
		o.Tell = func(text string) { told = append(told, text) }
		s := reach.NewStream()
		if err := s.Begin(t.Context(), away{}, in, o); err == nil {
			t.Error("it has begun")
		}
		_ = s.Close()
		if len(told) != 1 || !strings.Contains(told[0], "programs") || strings.ContainsRune(told[0], 0x1b) {
			t.Errorf("the person is told %q", told)
		}
	})
}

// A process that takes an agent back gets its older output; one to which it is handed over gets only
// what it has not received.
func TestAnAgentIsTakenBack(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		s, _ := begin(t, newInside(t), order(), "before")
		if n := s.History(); n != 6 {
			t.Errorf("%d bytes are from before", n)
		}
		read(t, s, "before")
	})
	t.Run("handed over", func(t *testing.T) {
		o := order()
		o.Have, o.Ahead, o.Past = 100, []byte("unread"), 2
		s, _ := begin(t, newInside(t), o, "more")
		if n := s.History(); n != 2 {
			t.Errorf("%d bytes are from before", n)
		}
		read(t, s, "unreadmore")
	})
}

// Only so much is buffered for an agent that does not read, and nothing else waits for it.
func TestAnAgentThatDoesNotRead(t *testing.T) {
	s, _ := begin(t, newInside(t), order(), "")
	chunk := make([]byte, 4<<20) // more than all buffers on the way
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(chunk)
		written <- err
	}()
	s.HoldWrites(true)
	if err := <-written; err == nil {
		t.Error("it is written")
	}
	for all := 0; ; {
		n, err := s.TryWrite(chunk)
		if err != nil {
			t.Fatal(err)
		}
		if all += n; n == 0 {
			break
		} else if all > len(chunk) {
			t.Fatal("everything is taken")
		}
	}
}
