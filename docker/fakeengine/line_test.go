package fakeengine_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// echo starts a program that says everything again.
func echo(t *testing.T, c *docker.Client, e *fakeengine.Engine) (io.ReadWriter, func(string)) {
	t.Helper()
	ct := start(t, c, spec(t))
	conn, in, _ := execute(t, e.Address(), ct.ID(), "cat", true)
	say := func(text string) {
		t.Helper()
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := output(t, in, len(text)); got != text {
			t.Fatalf("the echo is %q, want %q", got, text)
		}
	}
	say("begin")
	return conn, say
}

// Each direction takes half the delay.
func TestDelay(t *testing.T) {
	const delay = 120 * time.Millisecond
	c, e := through(t, fakeengine.Faults{})
	_, say := echo(t, c, e)
	e.Set(fakeengine.Faults{Delay: delay})
	begin := time.Now()
	say("slow")
	if took := time.Since(begin); took < delay {
		t.Errorf("the echo came after %v", took)
	}
	begin = time.Now()
	if err := c.Ping(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < delay {
		t.Errorf("the answer came after %v", took)
	}
}

// A delay alone limits no speed: what is on its way does not wait for an answer.
func TestDelayIsNoLimit(t *testing.T) {
	const delay = 100 * time.Millisecond
	c, e := through(t, fakeengine.Faults{})
	ct := start(t, c, spec(t))
	e.Set(fakeengine.Faults{Delay: delay})
	_, in, _ := execute(t, e.Address(), ct.ID(), "head -c 8388608 /dev/zero", true)
	output(t, in, 1)
	begin := time.Now()
	n := len(rest(t, in))
	// One piece of 32 KiB per delay would take 25 seconds.
	if took := time.Since(begin); n < 8<<20-64<<10 || took > 12*time.Second {
		t.Errorf("%d bytes came in %v", n, took)
	}
}

// The speed is that of all connections together.
func TestThrottle(t *testing.T) {
	const each, speed = 128 << 10, 512 << 10
	c, e := through(t, fakeengine.Faults{})
	ct := start(t, c, spec(t))
	e.Set(fakeengine.Faults{BytesPerSecond: speed})
	begin := time.Now()
	came := make(chan int, 2)
	for range 2 {
		_, in, _ := execute(t, e.Address(), ct.ID(), "head -c 131072 /dev/zero", true)
		go func() {
			n := 0
			for {
				piece, err := frame(in)
				if n += len(piece); err != nil {
					came <- n
					return
				}
			}
		}()
	}
	if n := <-came + <-came; n != 2*each {
		t.Errorf("%d bytes came", n)
	}
	if took := time.Since(begin); took < 2*each*time.Second/speed {
		t.Errorf("they came in %v", took)
	}
}

// A line that stalls says nothing, and goes on where it was.
func TestStall(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	conn, say := echo(t, c, e)
	e.Set(fakeengine.Faults{Stall: true})
	if _, err := conn.Write([]byte("lost?")); err != nil {
		t.Fatal(err)
	}
	unix := conn.(interface{ SetReadDeadline(time.Time) error })
	if err := unix.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes came, and %v", n, err)
	}
	if err := unix.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	e.Set(fakeengine.Faults{})
	var head [13]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil || string(head[8:]) != "lost?" {
		t.Errorf("then came %q, %v", head, err)
	}
	say("again")
}

// Connections are lost: all at once, when idle, and new ones.
func TestLostConnections(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	for _, tt := range []struct {
		name string
		lose func()
	}{
		{"disconnected", e.Disconnect},
		{"idle", func() { e.Set(fakeengine.Faults{Idle: 50 * time.Millisecond}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, _ := echo(t, c, e)
			tt.lose()
			if _, err := conn.Read(make([]byte, 1)); !lost(err) {
				t.Errorf("the stream goes on: %v", err)
			}
			e.Set(fakeengine.Faults{})
			if err := c.Ping(deadline(t)); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
	e.Set(fakeengine.Faults{Down: true})
	if err := c.Ping(deadline(t)); err == nil {
		t.Error("it answers while it is down")
	}
	e.Set(fakeengine.Faults{})
	if err := c.Ping(deadline(t)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// lost reports whether an error means the end of a connection, and no deadline.
func lost(err error) bool { return err != nil && !errors.Is(err, os.ErrDeadlineExceeded) }

// Requests fail as the test wants.
func TestFail(t *testing.T) {
	c, e := through(t, fakeengine.Faults{Fail: func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/exec") }})
	ct := start(t, c, spec(t))
	if _, _, _, err := c.Exec(deadline(t), ct.ID(), []string{"true"}, ""); err == nil || !strings.Contains(err.Error(), "as the test wants") {
		t.Errorf("the program ran: %v", err)
	}
	e.Set(fakeengine.Faults{})
	inside(t, c, ct.ID(), "true")
}
