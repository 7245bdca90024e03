package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// soon is how long a step may take.
const soon = time.Minute

// kept is a running keeper and its end.
type kept struct {
	t      *testing.T
	dir    string
	config Keep
	signal chan os.Signal
	stop   context.CancelFunc
	ended  chan struct{}
	code   int // valid after ended
	err    error
}

// keepOf makes a keeper of a shell script.
func keepOf(t *testing.T, script string) *kept {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	k := &kept{t: t, dir: dir, signal: make(chan os.Signal, 1), ended: make(chan struct{})}
	k.config = Keep{
		Argv:     []string{"sh", "-c", script},
		Carriers: at("carrier.sock"),
		Sockets:  Sockets{Tools: at("tools.sock"), Model: at("model.sock"), Ports: at("ports.sock")},
		Tokens:   []string{dir},
		Look:     Look,
		Prepare:  func() ([]string, error) { return append(os.Environ(), "PREPARED=yes"), nil },
		Serve:    func(ctx context.Context) error { <-ctx.Done(); return nil },
		Signals:  k.signal,
	}
	return k
}

// run starts the keeper, which ends with the test.
func (k *kept) run() *kept {
	ctx, cancel := context.WithCancel(context.Background())
	k.stop = cancel
	go func() {
		defer close(k.ended)
		k.code, k.err = k.config.Run(ctx)
	}()
	k.t.Cleanup(func() { cancel(); <-k.ended })
	return k
}

// ends waits for the keeper's end and compares the exit code.
func (k *kept) ends(code int) {
	k.t.Helper()
	select {
	case <-k.ended:
	case <-time.After(soon):
		k.t.Fatal("the keeper does not end")
	}
	if k.err != nil || k.code != code {
		k.t.Fatalf("the keeper ended with %d, %v, not with %d", k.code, k.err, code)
	}
}

// carrier is the host's end of a carrier.
type carrier struct {
	io.Reader
	io.Writer
	in, out *os.File
}

func (c *carrier) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// handOver hands the container's end of a carrier over to the keeper, as Carry does. It returns nil
// if the keeper or ctx has ended.
func (k *kept) handOver(ctx context.Context) (*carrier, *net.UnixConn) {
	k.t.Helper()
	theirIn, out, err1 := os.Pipe()
	in, theirOut, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		k.t.Error(err)
		return nil, nil
	}
	defer theirIn.Close()
	defer theirOut.Close()
	conn, err := dial(ctx, k.config.Carriers)
	if err == nil {
		rights := syscall.UnixRights(descriptor(theirIn), descriptor(theirOut))
		_, _, err = conn.WriteMsgUnix([]byte{0}, rights, nil)
	}
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, nil
	}
	return &carrier{Reader: in, Writer: out, in: in, out: out}, conn
}

// descriptor returns the descriptor of f, which stays non-blocking.
func descriptor(f *os.File) (fd int) {
	conn, _ := f.SyscallConn()
	_ = conn.Control(func(n uintptr) { fd = int(n) })
	return fd
}

// hostEnd is the host's end of one link. It makes a new carrier whenever one ends.
type hostEnd struct {
	k       *kept
	link    *link.Link
	session *mux.Session
	away    context.CancelFunc // no carrier is made any more
	running sync.WaitGroup

	mu       sync.Mutex
	carrier  *carrier
	carriers int
}

// newHost makes a link with carriers, until the test ends.
func (k *kept) newHost() *hostEnd {
	k.t.Helper()
	h := &hostEnd{k: k, link: link.New(link.NewID())}
	session, err := mux.Outside(h.link.Bulk())
	if err != nil {
		k.t.Fatal(err)
	}
	h.session = session
	k.t.Cleanup(func() {
		h.leave()
		_ = h.link.Close()
		_ = session.Close()
	})
	h.come()
	return h
}

// come makes carriers until leave is called.
func (h *hostEnd) come() {
	ctx, cancel := context.WithCancel(context.Background())
	h.away = cancel
	h.running.Go(func() {
		select {
		case <-h.k.ended:
			cancel()
		case <-ctx.Done():
		}
	})
	h.running.Go(func() {
		defer cancel()
		for ctx.Err() == nil && !isClosed(h.link.Done()) {
			c, conn := h.k.handOver(ctx)
			if c == nil {
				continue
			}
			h.mu.Lock()
			h.carrier = c
			h.carriers++
			h.mu.Unlock()
			_ = h.link.Carry(ctx, c, nil)
			_ = conn.Close()
		}
	})
}

// leave ends the carriers, but not the link.
func (h *hostEnd) leave() {
	h.away()
	h.running.Wait()
}

// cut ends the carrier in use.
func (h *hostEnd) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.carrier != nil {
		_ = h.carrier.Close()
	}
}

// read returns the next message, which must be of the kind.
func (h *hostEnd) read(kind link.Kind) []byte {
	h.k.t.Helper()
	m := h.readAny()
	if m.Kind != kind {
		h.k.t.Fatalf("a message of kind %d came in place of %d: %q", m.Kind, kind, m.Data)
	}
	return m.Data
}

func (h *hostEnd) readAny() link.Message {
	h.k.t.Helper()
	limit := time.AfterFunc(soon, func() { _ = h.link.Close() })
	defer limit.Stop()
	m, err := link.ReadMessage(h.link.Typed())
	if err != nil {
		h.k.t.Fatalf("nothing comes: %v", err)
	}
	return m
}

func (h *hostEnd) say(kind link.Kind, data []byte) {
	h.k.t.Helper()
	if err := link.WriteMessage(h.link.Typed(), link.Message{Kind: kind, Data: data}); err != nil {
		h.k.t.Fatal(err)
	}
}

// seen reads the report.
func (h *hostEnd) seen() seen.Seen {
	h.k.t.Helper()
	s, err := seen.Parse(h.read(link.Seen))
	if err != nil {
		h.k.t.Fatal(err)
	}
	return s
}

// begin reads the report and starts the program.
func (h *hostEnd) begin(cols, rows int) {
	h.k.t.Helper()
	h.seen()
	h.say(link.Go, link.GoData(cols, rows, 0))
	if lost, follow := h.past(); lost != 0 || follow > 100 {
		h.k.t.Fatalf("%d bytes are lost and %d from before when the program begins", lost, follow)
	}
}

// goOn continues with a program of whose output it has so many bytes.
func (h *hostEnd) goOn(has uint64) (lost, follow uint64) {
	h.k.t.Helper()
	h.seen()
	h.say(link.Go, link.GoData(80, 24, has))
	return h.past()
}

func (h *hostEnd) past() (lost, follow uint64) {
	h.k.t.Helper()
	lost, follow, err := link.ParsePast(h.read(link.Past))
	if err != nil {
		h.k.t.Fatal(err)
	}
	return lost, follow
}

// shows reads output until it contains text, and returns all of it.
func (h *hostEnd) shows(text string) string {
	h.k.t.Helper()
	var all bytes.Buffer
	for !strings.Contains(all.String(), text) {
		all.Write(h.read(link.Output))
	}
	return all.String()
}

// rest reads output until the program has ended.
func (h *hostEnd) rest() (output string, code int) {
	h.k.t.Helper()
	var all bytes.Buffer
	for {
		m := h.readAny()
		switch m.Kind {
		case link.Output:
			all.Write(m.Data)
		case link.Exit:
			code, err := link.ParseExit(m.Data)
			if err != nil {
				h.k.t.Fatal(err)
			}
			return all.String(), code
		default:
			h.k.t.Fatalf("a message of kind %d comes after %q", m.Kind, all.String())
		}
	}
}
