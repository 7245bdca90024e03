package mux

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/libp2p/go-yamux/v5"
)

// against is the host's end of a session, and the raw connection of the other end.
func against(t *testing.T) (outside *Session, conn net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	outside, err := Outside(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outside.Close(); a.Close() })
	return outside, a
}

// hostileContainer is the host's end of a session, and a yamux session as the container's end.
func hostileContainer(t *testing.T) (outside *Session, client *yamux.Session) {
	t.Helper()
	outside, conn := against(t)
	client, err := yamux.Client(conn, config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return outside, client
}

// hostileHost is the container's end of a session, and a yamux session as the host's end.
func hostileHost(t *testing.T) (inside *Session, server *yamux.Session) {
	t.Helper()
	a, b := net.Pipe()
	inside, err := Inside(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inside.Close() })
	if server, err = yamux.Server(b, config(), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return inside, server
}

// begin opens a stream and writes to it.
func begin(t *testing.T, client *yamux.Session, text string) *yamux.Stream {
	t.Helper()
	s, err := client.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(s, text); err != nil {
		t.Fatal(err)
	}
	return s
}

// message returns a yamux message.
func message(kind, flags byte, id, size uint32, data ...byte) []byte {
	b := []byte{0, kind, 0, flags}
	b = binary.BigEndian.AppendUint32(b, id)
	return append(binary.BigEndian.AppendUint32(b, size), data...)
}

// A kind that is unknown, or that the other end may not open, ends the session.
func TestKindThatEndsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		kind Kind
		host bool // it is the host that opens it
	}{
		"unknown":               {'X', false},
		"the host's":            {Files, false},
		"unknown, by the host":  {'X', true},
		"the container's tools": {Tools, true},
		"the container's ports": {Ports, true},
	} {
		t.Run(name, func(t *testing.T) {
			session, other := hostileContainer(t)
			if test.host {
				session, other = hostileHost(t)
			}
			s := begin(t, other, string(test.kind))
			if _, _, err := session.Accept(); !errors.Is(err, errKind) {
				t.Errorf("accepted: %v", err)
			}
			if _, err := s.Read(make([]byte, 1)); err == nil {
				t.Error("the stream goes on")
			}
			if _, _, err := session.Accept(); !errors.Is(err, io.EOF) {
				t.Errorf("accepted after that: %v", err)
			}
		})
	}
}

// A stream that is reset before its kind was sent is skipped.
func TestStreamWithoutAKind(t *testing.T) {
	outside, client := hostileContainer(t)
	s, err := client.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	begin(t, client, "M")
	if k, _, err := outside.Accept(); k != Model || err != nil {
		t.Errorf("accepted kind %q, %v", k, err)
	}
}

// Silent streams do not delay others.
func TestMuteStreamsHoldUpNoOther(t *testing.T) {
	outside, client := hostileContainer(t)
	for range 100 {
		if _, err := client.OpenStream(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	late, err := client.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kind{Model, Tools} {
		begin(t, client, string(k))
		if got, _, err := outside.Accept(); got != k || err != nil {
			t.Errorf("accepted kind %q, %v", got, err)
		}
	}
	if _, err := io.WriteString(late, "P"); err != nil {
		t.Fatal(err)
	}
	if got, _, err := outside.Accept(); got != Ports || err != nil {
		t.Errorf("at last, accepted kind %q, %v", got, err)
	}
}

// A stream above the limit of its kind is reset; one of another kind is not, nor is the next one
// after a stream was closed.
func TestStreamsAreCountedByKind(t *testing.T) {
	outside, client := hostileContainer(t)
	accept := func(want Kind) Stream {
		t.Helper()
		k, s, err := outside.Accept()
		if err != nil || k != want {
			t.Fatalf("accepted kind %q, %v", k, err)
		}
		return s
	}
	for _, k := range []Kind{Tools, Model, Ports} {
		var last Stream
		for range maxOpen[k] {
			begin(t, client, string(k))
			last = accept(k)
		}
		excess := begin(t, client, string(k))
		got := make(chan error, 1)
		go func() { _, err := excess.Read(make([]byte, 1)); got <- err }()
		accepted := make(chan Kind, 1)
		go func() { k, _, _ := outside.Accept(); accepted <- k }()
		if err := <-got; !errors.Is(err, yamux.ErrStreamReset) {
			t.Errorf("one too many of %q: %v", k, err)
		}
		last.Close()
		begin(t, client, string(k))
		if got := <-accepted; got != k {
			t.Errorf("after one was closed, kind %q was accepted", got)
		}
	}
	inside, _ := pair(t)
	inside.open[Tools] = maxOpen[Tools]
	if _, err := inside.Open(t.Context(), Tools); !errors.Is(err, ErrFull) {
		t.Errorf("opening one too many: %v", err)
	}
	if _, err := inside.Open(t.Context(), 'X'); !errors.Is(err, errKind) {
		t.Errorf("opening an unknown kind: %v", err)
	}
}

// A violation of the protocol ends the session.
func TestWhatEndsTheSession(t *testing.T) {
	tests := []struct {
		name string
		send [][]byte
	}{
		{"opened twice", [][]byte{message(1, 1, 1, 0), message(1, 1, 1, 0)}},
		{"long message", [][]byte{message(1, 1, 1, 0), message(0, 0, 1, maxMessage+1)}},
		{"long message of nothing", [][]byte{message(0, 0, 9, 1<<31)}},
		{"our id", [][]byte{message(1, 1, 2, 0)}},
		{"bytes before we have opened", [][]byte{message(0, 0, 2, 1, 7)}},
		{"room before we have opened", [][]byte{message(1, 2, 2, 1<<20)}},
		{"unknown type", [][]byte{message(7, 0, 1, 0)}},
		{"goodbye", [][]byte{message(3, 0, 0, 0)}},
		{"other version", [][]byte{{9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
		{"far too many streams", func() (all [][]byte) {
			for i := range uint32(maxKnown + 1) {
				all = append(all, message(1, 1, 2*i+1, 0), message(1, 8, 2*i+1, 0))
			}
			return all
		}()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			outside, conn := against(t)
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			for _, b := range test.send {
				if _, err := conn.Write(b); err != nil {
					break
				}
			}
			if _, _, err := outside.Accept(); !errors.Is(err, io.EOF) {
				t.Errorf("accepted: %v", err)
			}
		})
	}
}

// A peer that sends pings without end and reads nothing costs neither goroutines nor memory.
func TestFloodOfPings(t *testing.T) {
	_, conn := against(t)
	ping := message(2, 1, 0, 7)
	var flood []byte
	for range 10_000 {
		flood = append(flood, ping...)
	}
	if _, err := conn.Write(ping); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	for range 30 {
		if _, err := conn.Write(flood); err != nil {
			t.Fatal(err)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines run, %d ran before", n, before)
	}
	runtime.GC()
	runtime.ReadMemStats(&end)
	if grown := int64(end.HeapAlloc) - int64(start.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
