package bridge

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

// A program waits for the newest viewer only, and for none while the host is away.
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
			o.addViewer(0)
			o.next(first, make([]byte, 10))
		}, false},
		"the viewer leaves":     {func(o *output, first *viewer) { o.dropViewer(first) }, false},
		"nobody comes for long": {func(o *output, _ *viewer) { o.setAway(true) }, true},
		"the program has ended": {func(o *output, _ *viewer) { o.programEnded() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOutput()
				first := o.addViewer(0)
				o.put(make([]byte, ahead))
				went := make(chan struct{})
				go func() {
					o.awaitRoom()
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
				o.programEnded()
				<-went
			})
		})
	}
}

// A slow viewer is told exactly how many bytes were lost.
func TestOutputCountsWhatIsLost(t *testing.T) {
	o := newOutput()
	v := o.addViewer(0)
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
	if is := o.next(o.addViewer(0), buf); !is.past || is.lost != 5000 || is.follow != ringSize {
		t.Errorf("for another one: %+v", is)
	}
}

// Output that a program writes right before its end is not lost.
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
