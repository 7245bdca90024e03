package mux

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

// The host opens a few streams for files at once, and the container answers on them.
func TestTheHostOpensFiles(t *testing.T) {
	inside, outside := pair(t)
	for range 3 { // what was closed makes room
		var open []Stream
		for range maxOpen[Files] {
			ours, err := outside.Open(t.Context(), Files)
			if err != nil {
				t.Fatal(err)
			}
			kind, theirs, err := inside.Accept()
			if err != nil || kind != Files {
				t.Fatalf("accepted kind %q, %v", kind, err)
			}
			open = append(open, ours, theirs)
			if _, err := io.WriteString(ours, "question"); err != nil {
				t.Fatal(err)
			}
			if err := ours.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if asked, err := io.ReadAll(theirs); err != nil || string(asked) != "question" {
				t.Fatalf("read %q, %v", asked, err)
			}
			if _, err := io.WriteString(theirs, "answer"); err != nil {
				t.Fatal(err)
			}
			if err := theirs.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if answer, err := io.ReadAll(ours); err != nil || string(answer) != "answer" {
				t.Fatalf("read %q, %v", answer, err)
			}
		}
		if _, err := outside.Open(t.Context(), Files); !errors.Is(err, ErrFull) {
			t.Errorf("opening one too many: %v", err)
		}
		for _, s := range open {
			s.Close()
		}
	}
	if n := outside.open[Files] + inside.open[Files]; n != 0 {
		t.Errorf("%d streams are counted", n)
	}
	if n := len(outside.intake.known); n != 0 {
		t.Errorf("%d streams are known", n)
	}
	for _, k := range []Kind{Tools, Model, Ports} {
		if _, err := outside.Open(t.Context(), k); !errors.Is(err, errKind) {
			t.Errorf("opening kind %q: %v", k, err)
		}
	}
}

// Unread bytes are bounded on streams that the host has opened, too. A stuck reader loses its stream.
func TestUnreadFilesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside, conn := against(t)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		var open []Stream
		for range maxOpen[Files] {
			s, err := outside.Open(t.Context(), Files)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, s)
		}
		const streams, each = 40, 250 << 10
		go func() {
			data := make([]byte, maxMessage-headSize)
			for i := range streams {
				conn.Write(message(0, 1, uint32(2*i+1), 1, byte(Ports)))
			}
			for sent := 0; sent < each-len(data); sent += len(data) {
				for i := range streams + len(open) {
					id := 2*i + 1
					if i >= streams {
						id = 2 * (i - streams + 1)
					}
					conn.Write(message(0, 0, uint32(id), uint32(len(data)), data...))
				}
			}
		}()
		if n, known := kept(outside); n <= maxUnread || n > maxUnread+2*maxMessage || known != streams+len(open) {
			t.Fatalf("%d bytes of %d streams are kept", n, known)
		}
		for _, s := range open {
			if _, err := io.ReadFull(s, make([]byte, maxMessage)); err != nil {
				t.Errorf("read: %v", err)
			}
			s.Close()
		}
		if n, known := kept(outside); n > maxUnread+2*maxMessage || known != streams {
			t.Errorf("then %d bytes of %d streams are kept", n, known)
		}
	})
}

// A stuck reader of files loses its stream when others wait for room.
func TestFilesThatNobodyReadsAreReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outside, conn := against(t)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		s, err := outside.Open(t.Context(), Files)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(message(0, 0, 2, maxMessage-headSize, make([]byte, maxMessage-headSize)...))
		conn.Write(message(0, 0, 2, maxMessage-headSize, make([]byte, maxMessage-headSize)...))
		go flood(conn, 1000, 1, 3*maxUnread/1000/perMessage) // many streams, each with less
		if n, _ := kept(outside); n <= maxUnread {
			t.Fatalf("%d bytes are kept", n)
		}
		time.Sleep(readWithin + 1) //nolint:forbidigo // on the clock of synctest
		synctest.Wait()
		if _, err := io.ReadAll(s); !errors.Is(err, yamux.ErrStreamReset) {
			t.Errorf("read: %v", err)
		}
	})
}

// clog writes to a session whose other end reads nothing until it takes no more.
func clog(t *testing.T, outside *Session) Stream {
	t.Helper()
	s, err := outside.Open(t.Context(), Files)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.SetWriteDeadline(time.Now().Add(time.Second))
	for range 1000 {
		if _, err = s.Write([]byte{0}); err != nil {
			return s
		}
	}
	t.Fatal("everything is taken")
	return nil
}

// When nothing can be sent, Open returns when its context ends. The stream that it has begun is not
// counted any more once it could be opened.
func TestOpeningGivesUpWhileNothingMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		outside, err := Outside(b)
		if err != nil {
			t.Fatal(err)
		}
		s := clog(t, outside)
		for _, want := range []error{context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded, ErrFull} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := outside.Open(ctx, Files); !errors.Is(err, want) {
				t.Errorf("opening: %v, want %v", err, want)
			}
			cancel()
		}
		go func() { _, _ = io.Copy(io.Discard, a) }() // it moves again
		synctest.Wait()
		if again, err := outside.Open(t.Context(), Files); err != nil {
			t.Errorf("opening at last: %v", err)
		} else {
			again.Close()
		}
		s.Close()
		synctest.Wait()
		if n := outside.open[Files]; n != 0 {
			t.Errorf("%d streams are counted", n)
		}
		outside.Close()
		a.Close()
	})
}

// Close ends pending calls of Open.
func TestCloseEndsOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		outside, err := Outside(b)
		if err != nil {
			t.Fatal(err)
		}
		clog(t, outside)
		opened := make(chan error)
		go func() { _, err := outside.Open(context.Background(), Files); opened <- err }()
		synctest.Wait()
		outside.Close()
		if err := <-opened; err == nil {
			t.Error("it was opened")
		}
		if _, err := outside.Open(t.Context(), Files); !errors.Is(err, errEnded) {
			t.Errorf("opening after that: %v", err)
		}
	})
}
