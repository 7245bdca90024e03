package bridge

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// A program waits for the newest viewer, for none that is older, and for nobody who is away.
func TestOutputHoldsUpTheProgram(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile func(o *output, first *viewer)
		goes      bool
	}{
		"nothing happens": {func(*output, *viewer) {}, false},
		"the viewer reads": {func(o *output, first *viewer) {
			o.next(first, make([]byte, 10))
		}, true},
		"an old viewer reads": {func(o *output, first *viewer) {
			o.view(0)
			o.next(first, make([]byte, 10))
		}, false},
		"the viewer leaves":     {func(o *output, first *viewer) { o.forget(first) }, false},
		"nobody comes for long": {func(o *output, _ *viewer) { o.leave(true) }, true},
		"the program has ended": {func(o *output, _ *viewer) { o.release() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutput()
				first := o.view(0)
				o.put(make([]byte, ahead))
				went := make(chan struct{})
				go func() {
					o.room()
					close(went)
				}()
				synctest.Wait()
				if isClosed(went) {
					t.Fatal("the program does not wait")
				}
				tt.meanwhile(o, first)
				synctest.Wait()
				if isClosed(went) != tt.goes {
					t.Errorf("whether the program goes on: %v", isClosed(went))
				}
				o.release()
				<-went
			})
		})
	}
}

// A viewer that was slow learns how much was lost, and the count is right.
func TestOutputCountsWhatIsLost(t *testing.T) {
	o := newOutput()
	v := o.view(0)
	buf := make([]byte, 1000)
	o.put(make([]byte, 5000))
	if is := o.next(v, buf); !is.past || is.lost != 0 || is.follow != 5000 || is.n != 1000 {
		t.Errorf("at first: %+v", is)
	}
	o.put(make([]byte, ringSize))
	if is := o.next(v, buf); !is.past || is.lost != 4000 || is.follow != ringSize || is.n != 1000 {
		t.Errorf("after too much: %+v", is)
	}
	if is := o.next(v, buf); is.past || is.n != 1000 {
		t.Errorf("then: %+v", is)
	}
	if is := o.next(o.view(0), buf); !is.past || is.lost != 5000 || is.follow != ringSize {
		t.Errorf("for another one: %+v", is)
	}
}

// What a program writes right before its end is not lost when nobody has read it yet.
func TestTerminalKeepsTheLastWords(t *testing.T) {
	terminal, err := startTerminal([]string{"sh", "-c", `stty -onlcr; head -c 8000 /dev/zero | tr '\0' x; printf END; exit 3`}, os.Environ(), 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.close()
	if code := terminal.wait(); code != 3 {
		t.Errorf("it ends with %d", code)
	}
	if got := string(terminal.rest()); got != strings.Repeat("x", 8000)+"END" {
		t.Errorf("%d bytes are left", len(got))
	}
}
