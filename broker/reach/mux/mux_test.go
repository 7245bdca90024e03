package mux

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns a session's two ends over a pipe.
func pair(t testing.TB) (inside, outside *Session) {
	t.Helper()
	a, b := net.Pipe()
	inside, err := Inside(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inside.Close() })
	outside, err = Outside(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outside.Close() })
	return inside, outside
}

func TestStreamsArriveWithTheirKind(t *testing.T) {
	inside, outside := pair(t)
	for _, k := range []Kind{Tools, Model, Ports} {
		t.Run(string(k), func(t *testing.T) {
			c, err := inside.Open(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			got, s, err := outside.Accept()
			if err != nil || got != k {
				t.Fatalf("accepted kind %q, %v", got, err)
			}
			defer s.Close()
			if _, err := io.WriteString(c, "question"); err != nil {
				t.Fatal(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if asked, err := io.ReadAll(s); err != nil || string(asked) != "question" {
				t.Fatalf("read %q, %v", asked, err)
			}
			if _, err := io.WriteString(s, "answer"); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if answer, err := io.ReadAll(c); err != nil || string(answer) != "answer" {
				t.Errorf("read %q, %v", answer, err)
			}
		})
	}
}

// A stream returns the errors of a connection of package net.
func TestErrorsAreTheUsualOnes(t *testing.T) {
	inside, outside := pair(t)
	opened, err := inside.Open(t.Context(), Model)
	if err != nil {
		t.Fatal(err)
	}
	_, accepted, err := outside.Accept()
	if err != nil {
		t.Fatal(err)
	}
	both := map[string]Stream{"opened": opened, "accepted": accepted}
	for name, s := range both {
		if err := s.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("reading from what was %s beyond the deadline: %v", name, err)
		}
	}
	for name, s := range both { // the end of one can be seen by the other
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if err := s.Close(); err != nil {
					t.Errorf("closing it: %v", err)
				}
			}
			if _, err := s.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("reading when it is closed: %v", err)
			}
			if _, err := s.Write(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("writing when it is closed: %v", err)
			}
		})
	}
	for s, end := range map[*Session]string{inside: "inside", outside: "outside"} {
		if n := s.open[Model]; n != 0 {
			t.Errorf("%s, %d streams are counted", end, n)
		}
	}
}
