package bridge

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
)

// echoServer is a FileServer that sends back what it reads.
type echoServer struct{ over chan struct{} } // one value for each connection that has ended

func (m echoServer) Serve(_ context.Context, conn io.ReadWriteCloser) error {
	_, err := io.Copy(conn, conn)
	m.over <- struct{}{}
	return err
}

// echoKeeper is a keeper of a script with an echoServer.
func echoKeeper(t *testing.T, script string) (*kept, echoServer) {
	t.Helper()
	k, m := keepOf(t, script), echoServer{over: make(chan struct{}, 100)}
	k.config.Files = m
	return k, m
}

// end waits for the end of a connection.
func (m echoServer) end(t *testing.T) {
	t.Helper()
	select {
	case <-m.over:
	case <-time.After(soon):
		t.Fatal("a connection does not end")
	}
}

// files opens a connection for files.
func (h *hostEnd) files() net.Conn {
	h.k.t.Helper()
	c, err := h.session.Open(h.k.t.Context(), mux.Files)
	if err != nil {
		h.k.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(soon))
	return c
}

// echoes writes to a connection for files while carriers are cut, and expects the same back.
func (h *hostEnd) echoes(c net.Conn) {
	h.k.t.Helper()
	sent, got := bytes.Repeat([]byte("content "), 4<<10), make([]byte, 32<<10)
	for range 5 {
		h.cut()
		if _, err := c.Write(sent); err != nil {
			h.k.t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
			h.k.t.Fatalf("something else comes back: %v", err)
		}
	}
}

// Files are served before the program starts, while it runs and after it has ended, on the newest
// link. The keeper stays until the host has closed its connections.
func TestKeepServesFiles(t *testing.T) {
	k, m := echoKeeper(t, "read line; exit 6")
	place := t.TempDir()
	k.config.Tokens = []string{place}
	k.run()
	first := k.newHost()
	first.seen()
	if left, err := os.ReadDir(place); err != nil || len(left) != 1 {
		t.Errorf("there is no token: %v, %v", left, err)
	}
	first.echoes(first.files())
	if left, err := os.ReadDir(place); err != nil || len(left) != 0 {
		t.Errorf("a token is among the files: %v, %v", left, err)
	}
	first.leave()

	h := k.newHost()
	h.seen()
	m.end(t) // with its link
	c := h.files()
	h.echoes(c)
	h.say(link.Go, link.GoData(80, 24, 0))
	h.past()
	h.echoes(c)
	h.say(link.Keys, []byte("\r"))
	if _, code := h.rest(); code != 6 {
		t.Errorf("it ends with %d", code)
	}
	if err := h.link.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.echoes(c)
	_ = c.Close()
	k.ends(6)
	m.end(t)
}

// A keeper without a FileServer closes the host's connections, and goes on.
func TestKeepWithoutFiles(t *testing.T) {
	k := keepOf(t, "exit 2").run()
	h := k.newHost()
	h.seen()
	if n, err := h.files().Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes come", n)
	}
	h.say(link.Go, link.GoData(80, 24, 0))
	h.past()
	h.rest()
	k.ends(2)
}

// A host that connects after the program's end, instead of one that had connections for files, has a
// moment to open one.
func TestKeepWaitsForWhoFetchesTheRest(t *testing.T) {
	for name, tt := range map[string]struct {
		opens bool // the next host opens a connection
		stays bool // and stays
	}{
		"it fetches":        {true, true},
		"it goes away":      {true, false},
		"it wants no files": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			k, m := echoKeeper(t, "read line; exit 6")
			k.config.wait.exit, k.config.wait.away = 500*time.Millisecond, 500*time.Millisecond
			if tt.opens {
				k.config.wait.exit = soon
			}
			if tt.stays {
				k.config.wait.away = soon
			}
			k.run()
			first := k.newHost()
			first.seen()
			first.echoes(first.files())
			first.say(link.Go, link.GoData(80, 24, 0))
			first.past()
			first.leave()

			h := k.newHost()
			h.goOn(0)
			m.end(t)
			h.say(link.Keys, []byte("\r"))
			if _, code := h.rest(); code != 6 {
				t.Errorf("it ends with %d", code)
			}
			if tt.opens {
				c := h.files()
				h.echoes(c)
				if tt.stays {
					_ = c.Close()
				} else {
					h.leave()
				}
			}
			k.ends(6)
		})
	}
}

// A container that is only filled ends when it is removed, whatever is under way.
func TestKeepThatIsOnlyFilledEnds(t *testing.T) {
	k, m := echoKeeper(t, "touch began")
	k.run()
	h := k.newHost()
	h.seen()
	h.echoes(h.files())
	_ = h.link.Close() // as a host that has enough
	m.end(t)
	k.signal <- syscall.SIGTERM
	<-k.ended
	if k.err == nil {
		t.Error("it ends as if something had run")
	}
}

// A host that opens a stream of another kind loses its link.
func TestKeepTakesNothingElse(t *testing.T) {
	k, _ := echoKeeper(t, "true")
	k.run()
	h := k.newHost()
	h.seen()
	stream := []byte{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, byte(mux.Tools)}
	if _, err := h.link.Bulk().Write(stream); err != nil {
		t.Fatal(err)
	}
	select {
	case <-h.link.Done():
	case <-time.After(soon):
		t.Error("the link goes on")
	}
}
