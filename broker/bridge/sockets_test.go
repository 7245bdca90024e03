package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// dialSocket connects to a socket of the keeper, as a program of the container does.
func (k *kept) dialSocket(path string) *net.UnixConn {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	conn, err := dial(ctx, path)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(soon))
	return conn
}

// echo sends back each stream's kind and what it reads from it.
func (h *hostEnd) echo() {
	h.running.Go(func() {
		var streams sync.WaitGroup
		defer streams.Wait()
		for {
			kind, s, err := h.session.Accept()
			if err != nil {
				return
			}
			streams.Go(func() {
				defer s.Close()
				_, _ = s.Write([]byte{byte(kind)})
				_, _ = io.Copy(s, s)
			})
		}
	})
}

// Connections to each socket become streams of its kind, and the end of one direction is passed on.
func TestKeepJoinsConnectionsToStreams(t *testing.T) {
	k := keepOf(t, "read line").run()
	early := k.dialSocket(k.config.Sockets.Tools) // before there is a host
	if _, err := early.Write([]byte("waiting")); err != nil {
		t.Fatal(err)
	}
	h := k.newHost()
	h.echo()
	defer h.link.Close()
	for path, kind := range map[string]mux.Kind{k.config.Sockets.Tools: mux.Tools, k.config.Sockets.Model: mux.Model, k.config.Sockets.Ports: mux.Ports} {
		t.Run(string(kind), func(t *testing.T) {
			conn := k.dialSocket(path)
			_, _ = io.WriteString(conn, "words")
			_ = conn.CloseWrite()
			if all, err := io.ReadAll(conn); err != nil || string(all) != string(kind)+"words" {
				t.Errorf("what comes back is %q, %v", all, err)
			}
		})
	}
	_ = early.CloseWrite()
	if all, err := io.ReadAll(early); err != nil || string(all) != "Twaiting" {
		t.Errorf("what comes back of the first is %q, %v", all, err)
	}
}

// When the host is away for long, connections to the model and for ports end, and those to the tools
// are kept.
func TestKeepKeepsToolsWhileTheHostIsAway(t *testing.T) {
	k := keepOf(t, "read line")
	k.config.wait.away = 100 * time.Millisecond
	k.run()
	h := k.newHost()
	h.begin(80, 24)
	conns := map[string]*net.UnixConn{}
	for _, path := range []string{k.config.Sockets.Tools, k.config.Sockets.Model, k.config.Sockets.Ports} {
		conns[path] = k.dialSocket(path)
		if _, err := io.WriteString(conns[path], "a"); err != nil {
			t.Fatal(err)
		}
	}
	streams := map[mux.Kind]mux.Stream{}
	for range conns {
		kind, s, err := h.session.Accept()
		if err != nil {
			t.Fatal(err)
		}
		streams[kind] = s
		if _, err := io.ReadFull(s, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	h.leave()
	for _, path := range []string{k.config.Sockets.Model, k.config.Sockets.Ports} {
		if n, err := conns[path].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s is not closed: %d bytes, %v", path, n, err)
		}
	}
	if _, err := io.WriteString(conns[k.config.Sockets.Tools], "b"); err != nil {
		t.Fatal(err)
	}
	h.come()
	got := make([]byte, 1)
	if _, err := io.ReadFull(streams[mux.Tools], got); err != nil || got[0] != 'b' {
		t.Errorf("the tools get %q, %v", got, err)
	}
	_, _ = io.ReadAll(streams[mux.Model]) // it ends, in order or not
	h.say(link.Keys, []byte("\r"))
	h.rest()
	k.ends(0)
}

// Carriers are cut again and again while somebody types and tools are called. Each byte is received
// once and in order.
func TestKeepLosesNothingWhenCarriersAreCut(t *testing.T) {
	const cuts = 200
	k := keepOf(t, `stty raw -echo; echo ready; exec cat`).run()
	h := k.newHost()
	h.echo()
	h.begin(80, 24)
	h.shows("ready\n")
	cut := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer h.link.Close()
	running.Go(func() {
		defer close(cut)
		for range cuts {
			h.cutOnce()
		}
	})
	var calls [3]int
	var called sync.WaitGroup
	for i := range calls {
		conn := k.dialSocket(k.config.Sockets.Tools)
		called.Go(func() { calls[i] = callTools(t, conn, cut) })
	}
	var typed strings.Builder
	running.Go(func() {
		for i := 0; !isClosed(cut); i++ {
			line := fmt.Sprintf("line %d\n", i)
			typed.WriteString(line)
			if link.WriteMessage(h.link.Typed(), link.Message{Kind: link.Keys, Data: []byte(line)}) != nil {
				return
			}
		}
		typed.WriteString("end")
		_ = link.WriteMessage(h.link.Typed(), link.Message{Kind: link.Keys, Data: []byte("end")})
	})
	shown := h.shows("end")
	called.Wait()
	if want := typed.String(); shown != want {
		t.Errorf("%d bytes were typed, and %d others were shown", len(want), len(shown))
	}
	for i, n := range calls {
		if n < 10 {
			t.Errorf("caller %d has made %d calls only", i, n)
		}
	}
	t.Logf("%d carriers, %d bytes typed, %v calls", h.made(), len(shown), calls)
}

// cutOnce ends the carrier in use, and waits for the next one to be used.
func (h *hostEnd) cutOnce() {
	before, beat := h.made(), h.link.Carried()
	h.cut()
	for (h.made() == before || !h.link.Carried().After(beat)) && !isClosed(h.link.Done()) {
		<-time.After(time.Millisecond)
	}
}

// made returns how many carriers there were.
func (h *hostEnd) made() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.carriers
}

// callTools sends requests and awaits their answers until over is closed, and returns how many.
func callTools(t *testing.T, conn *net.UnixConn, over <-chan struct{}) (n int) {
	t.Helper()
	answers := bufio.NewReader(conn)
	if _, err := answers.ReadByte(); err != nil { // the kind
		t.Error(err)
		return n
	}
	for ; !isClosed(over); n++ {
		ask := fmt.Sprintf("call %d %s\n", n, strings.Repeat("x", n%3000))
		if _, err := io.WriteString(conn, ask); err != nil {
			t.Error(err)
			return n
		}
		if answer, err := answers.ReadString('\n'); err != nil || answer != ask {
			t.Errorf("call %d is answered with %.50q, %v", n, answer, err)
			return n
		}
	}
	return n
}

// The current link survives when something other than a carrier is handed over, and hellos of other
// links.
func TestKeepSurvivesWhatIsNoCarrier(t *testing.T) {
	k := keepOf(t, "echo ready; read line").run()
	h := k.newHost()
	h.begin(80, 24)
	h.shows("ready")
	file, err := os.CreateTemp(k.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fd := descriptor(file)
	for name, rights := range map[string][]byte{
		"no descriptor":     nil,
		"one descriptor":    syscall.UnixRights(fd),
		"three descriptors": syscall.UnixRights(fd, fd, fd),
		"a file":            syscall.UnixRights(fd, fd),
		"two messages":      append(syscall.UnixRights(fd), syscall.UnixRights(fd)...),
	} {
		t.Run(name, func(t *testing.T) {
			conn := k.dialSocket(k.config.Carriers)
			if _, _, err := conn.WriteMsgUnix([]byte{0}, rights, nil); err != nil && !errors.Is(err, syscall.EINVAL) {
				t.Fatal(err)
			}
			_ = conn.CloseWrite()
			if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("it is not closed: %v", err)
			}
		})
	}
	t.Run("no hello", func(t *testing.T) {
		c, conn := k.handOver(t.Context())
		defer conn.Close()
		_, _ = io.WriteString(c, strings.Repeat("nonsense", 100))
		if all, err := io.ReadAll(c); err != nil || len(all) != 0 {
			t.Errorf("it is answered with %q, %v", all, err)
		}
		_ = c.Close()
	})
	t.Run("a link of another time", func(t *testing.T) {
		old := link.New(link.NewID())
		defer old.Close()
		c, conn := k.handOver(t.Context())
		defer conn.Close()
		err := old.Carry(t.Context(), &received{carrier: c}, nil)
		if !errors.Is(err, link.ErrEnded) {
			t.Errorf("it ends with %v", err)
		}
	})
	h.say(link.Keys, []byte("\r"))
	h.rest()
	k.ends(0)
}

// received is a carrier whose hello names received bytes that nobody has sent.
type received struct {
	*carrier
	said bool
}

func (r *received) Write(p []byte) (int, error) {
	if !r.said {
		r.said = true
		p = bytes.Clone(p)
		p[len(p)-1] = 7
	}
	return r.carrier.Write(p)
}

// init makes the test's own program one that hands its input and output over, if a variable says so.
func init() {
	if socket := os.Getenv("TEST_CARRY"); socket != "" {
		if err := Carry(context.Background(), socket); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// A process that hands over its input and output lives as long as they are used, and they end with
// it.
func TestCarryStaysAsLongAsItIsUsed(t *testing.T) {
	k := keepOf(t, "echo ready; read line").run()
	l := link.New(link.NewID())
	defer l.Close()
	first := k.carryProcess(l)
	m, err := link.ReadMessage(l.Typed())
	if err != nil || m.Kind != link.Seen {
		t.Fatalf("kind %d, %v", m.Kind, err)
	}
	second := k.carryProcess(l)
	if err := <-first.ended; err != nil {
		t.Errorf("the first one ends with %v", err)
	}
	if err := <-first.carried; !errors.Is(err, link.ErrReplaced) {
		t.Errorf("the first one carries until %v", err)
	}
	_ = second.cmd.Process.Kill()
	if err := <-second.ended; err == nil {
		t.Error("a killed one ends well")
	}
	if err := <-second.carried; !errors.Is(err, io.EOF) {
		t.Errorf("the second one carries until %v", err)
	}
}

// carried is a process that has handed over its input and output, and their other ends.
type carried struct {
	cmd            *exec.Cmd
	ended, carried chan error
}

func (k *kept) carryProcess(l *link.Link) *carried {
	k.t.Helper()
	theirIn, out, err1 := os.Pipe()
	in, theirOut, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		k.t.Fatal(err)
	}
	p := &carried{cmd: exec.Command(os.Args[0]), ended: make(chan error, 1), carried: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), "TEST_CARRY="+k.config.Carriers)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirIn, theirOut, os.Stderr
	if err := p.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	done := make(chan struct{})
	go func() { p.ended <- p.cmd.Wait() }()
	go func() {
		defer close(done)
		p.carried <- l.Carry(context.Background(), &carrier{Reader: in, Writer: out, in: in, out: out}, nil)
	}()
	k.t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = l.Close(); <-done })
	return p
}
