package fakeengine_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// Streams are cut after the time that Cut says, and only they.
func TestCut(t *testing.T) {
	var cuts atomic.Int32
	c, e := through(t, fakeengine.Faults{Cut: func() time.Duration {
		if cuts.Add(1) > 2 {
			return 0
		}
		return 50 * time.Millisecond
	}})
	ct := start(t, c, spec(t)) // the attachment is a stream, too: it is the first one
	conn, in, _ := execute(t, e.Address(), ct.ID(), "cat", true)
	if _, err := in.ReadByte(); !lost(err) {
		t.Errorf("the stream goes on: %v", err)
	}
	conn.Close()
	conn, in, _ = execute(t, e.Address(), ct.ID(), "cat", true)
	if _, err := conn.Write([]byte("on")); err != nil {
		t.Fatal(err)
	}
	if got := output(t, in, 2); got != "on" {
		t.Errorf("a stream that lives says %q", got)
	}
	if n := cuts.Load(); n != 3 {
		t.Errorf("%d streams began", n)
	}
}

// What is written just before the end is lost, and nothing else is.
func TestTruncate(t *testing.T) {
	c, e := through(t, fakeengine.Faults{Truncate: true})
	ct := start(t, c, spec(t))
	for end := time.Now().Add(patience); ; {
		_, in, _ := execute(t, e.Address(), ct.ID(), "echo first; sleep 1; echo last", true)
		got := rest(t, in)
		if got == "first\n" {
			break
		}
		// An engine that is busy may pass the first line on so late that it is lost, too,
		// or end the stream so late that nothing is.
		if got != "" && got != "first\nlast\n" || time.Now().After(end) {
			t.Fatalf("it said %q", got)
		}
	}
	conn, in, _ := execute(t, e.Address(), ct.ID(), "cat", true)
	if _, err := conn.Write([]byte("on")); err != nil {
		t.Fatal(err)
	}
	if got := output(t, in, 2); got != "on" {
		t.Errorf("a stream that goes on says %q", got)
	}
}

// Streams stay open after their program, until the client closes them.
func TestKeepOpen(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	ct := start(t, c, spec(t))
	e.Set(fakeengine.Faults{KeepOpen: true})
	before := e.Streams()
	id := prepare(t, e.Address(), ct.ID(), "echo said")
	conn := dial(t, e.Address())
	_, in := send(t, conn, http.MethodPost, "/exec/"+id+"/start", `{"Detach":false,"Tty":false}`, true)
	if got := output(t, in, 5); got != "said\n" {
		t.Errorf("it said %q", got)
	}
	eventually(t, "the program's end", func() bool {
		_, body := ask(t, e.Address(), http.MethodGet, "/exec/"+id+"/json", "")
		return strings.Contains(body, `"Running":false`)
	})
	if _, err := conn.Write([]byte("anybody?\n")); err != nil {
		t.Fatalf("the stream has ended: %v", err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadByte(); lost(err) {
		t.Errorf("the stream has ended: %v", err)
	}
	if got := e.Streams(); got != before+1 {
		t.Errorf("%d streams are open, want %d", got, before+1)
	}
	conn.Close()
	eventually(t, "the stream ends with the client", func() bool { return e.Streams() == before })
}

// The end of the input does not reach the program.
func TestNoHalfClose(t *testing.T) {
	c, e := through(t, fakeengine.Faults{NoHalfClose: true})
	ct := start(t, c, spec(t))
	conn, in, _ := execute(t, e.Address(), ct.ID(), "cat; echo ended", true)
	if _, err := conn.Write([]byte("on")); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, in, 2); got != "on" {
		t.Errorf("it said %q", got)
	}
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if piece, err := frame(in); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the program went on: %q, %v", piece, err)
	}
}

// eventually polls until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}
