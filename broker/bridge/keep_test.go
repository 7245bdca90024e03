package bridge

import (
	"errors"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// The program starts after the host's go, with the terminal's size and without the tokens.
func TestKeepStartsTheProgramWhenTheHostLetsIt(t *testing.T) {
	k := keepOf(t, `stty size; echo $PREPARED $(ls -A); exit 7`)
	k.config.Argv = []string{"sh", "-c", "cd " + k.dir + "; " + k.config.Argv[2]}
	k.run()
	h := k.newHost()
	s := h.seen()
	if len(s.Tokens) != 1 {
		t.Fatalf("%+v", s.Tokens)
	}
	token := filepath.Join(k.dir, s.Tokens[0].Name)
	if content, err := os.ReadFile(token); err != nil || string(content) != s.Tokens[0].Content {
		t.Errorf("the token contains %q, %v", content, err)
	}
	h.say(link.Go, link.GoData(101, 33, 0))
	h.past()
	output, code := h.rest()
	if code != 7 || !strings.Contains(output, "33 101\r\nyes ") || strings.Contains(output, s.Tokens[0].Name) {
		t.Errorf("it shows %q and ends with %d", output, code)
	}
	k.ends(7)
}

// Keys and new sizes reach the program.
func TestKeepPassesKeysAndSizes(t *testing.T) {
	k := keepOf(t, `trap 'stty size' WINCH; stty -echo; echo ready; read line; echo "got $line"; while ! read line; do :; done`).run()
	h := k.newHost()
	h.begin(80, 24)
	h.shows("ready")
	h.say(link.Keys, []byte("some words\r"))
	h.shows("got some words")
	h.say(link.Size, link.SizeData(90, 20))
	h.shows("20 90")
	h.say(link.Keys, []byte("\r"))
	if _, code := h.rest(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
	k.ends(0)
}

// The next host gets the old output, and the program goes on.
func TestKeepShowsANewHostThePast(t *testing.T) {
	k := keepOf(t, `stty -echo; echo first; read line; echo "got $line"; exit 3`).run()
	h := k.newHost()
	h.begin(80, 24)
	h.shows("first")
	h.leave()
	again := k.newHost()
	if lost, follow := again.goOn(0); lost != 0 || follow != uint64(len("first\r\n")) {
		t.Errorf("%d bytes are lost, %d from before", lost, follow)
	}
	again.shows("first")
	again.say(link.Keys, []byte("words\r"))
	output, code := again.rest()
	if !strings.Contains(output, "got words") || code != 3 {
		t.Errorf("it shows %q and ends with %d", output, code)
	}
	k.ends(3)
	select {
	case <-h.link.Done():
		t.Error("the first link was told of its end without a carrier")
	default:
	}
}

// A host that continues for another one gets what that has not received.
func TestKeepGivesAHostWhatItLacks(t *testing.T) {
	k := keepOf(t, `stty -onlcr; echo first; read line; echo second`).run()
	h := k.newHost()
	h.begin(80, 24)
	h.shows("first\n")
	h.leave()
	again := k.newHost()
	if lost, follow := again.goOn(2); lost != 0 || follow != 4 {
		t.Errorf("%d bytes are lost, %d from before", lost, follow)
	}
	if text := again.shows("rst\n"); text != "rst\n" {
		t.Errorf("it shows %q", text)
	}
	again.say(link.Keys, []byte("\r"))
	again.shows("second")
	again.rest()
	k.ends(0)
}

// A second host that connects before go gets the same report as the first one.
func TestKeepTellsEachHostWhatIsSeen(t *testing.T) {
	k := keepOf(t, "exit 5").run()
	first := k.newHost()
	a := first.seen()
	first.leave()
	second := k.newHost()
	if b := second.seen(); len(b.Tokens) != 1 || b.Tokens[0] != a.Tokens[0] {
		t.Errorf("%+v is not %+v", b.Tokens, a.Tokens)
	}
	second.say(link.Go, link.GoData(80, 24, 0))
	second.past()
	if _, code := second.rest(); code != 5 {
		t.Errorf("it ends with %d", code)
	}
	k.ends(5)
}

// A program that writes fast waits for the host. When the host is away for long, it does not wait any
// more, and lost bytes are counted.
func TestKeepHoldsUpAProgramThatWritesFast(t *testing.T) {
	k := keepOf(t, `stty -onlcr; head -c 20000000 /dev/zero | tr '\0' x; touch "$DONE"; read line`)
	done := filepath.Join(k.dir, "done")
	k.config.Prepare = func() ([]string, error) { return append(os.Environ(), "DONE="+done), nil }
	k.config.wait.away = 300 * time.Millisecond
	k.run()
	h := k.newHost()
	h.begin(80, 24)
	got := uint64(len(h.read(link.Output)))
	if _, err := os.Stat(done); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the program does not wait: %v", err)
	}
	h.leave()
	for end := time.Now().Add(soon); ; <-time.After(10 * time.Millisecond) {
		if _, err := os.Stat(done); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal("the program waits although nobody comes")
		}
	}
	h.come()
	lost := uint64(0)
	for got+lost < 20000000 {
		m := h.readAny()
		switch m.Kind {
		case link.Output:
			got += uint64(len(m.Data))
		case link.Past:
			n, follow, err := link.ParsePast(m.Data)
			if err != nil || follow > ringSize || follow < ringSize-ringChunk {
				t.Errorf("%d bytes are lost, %d from before, %v", n, follow, err)
			}
			lost += n
		default:
			t.Fatalf("a message of kind %d", m.Kind)
		}
	}
	if got+lost != 20000000 || lost < 10000000 {
		t.Errorf("%d bytes came and %d were lost", got, lost)
	}
	h.say(link.Keys, []byte("\n"))
	h.rest()
	k.ends(0)
}

// The program's end is kept for a host that is away.
func TestKeepTellsOfTheEndLater(t *testing.T) {
	k := keepOf(t, `read line; echo "last words"; exit 9`).run()
	h := k.newHost()
	h.begin(80, 24)
	h.say(link.Keys, []byte("\r"))
	h.shows("last words")
	h.leave()
	again := k.newHost()
	again.goOn(0)
	if output, code := again.rest(); !strings.Contains(output, "last words") || code != 9 {
		t.Errorf("it shows %q and ends with %d", output, code)
	}
	k.ends(9)
}

// A keeper to which no host connects ends.
func TestKeepDoesNotWaitForever(t *testing.T) {
	t.Run("for the beginning", func(t *testing.T) {
		k := keepOf(t, "true")
		k.config.wait.away = 50 * time.Millisecond
		k.run()
		<-k.ended
		if !errors.Is(k.err, errGivenUp) {
			t.Errorf("it ends with %v", k.err)
		}
		if left, _ := filepath.Glob(filepath.Join(k.dir, ".ironcurtain*")); len(left) > 0 {
			t.Errorf("it leaves %q", left)
		}
	})
	t.Run("for somebody to know of the end", func(t *testing.T) {
		k := keepOf(t, "read line; exit 4")
		k.config.wait.away = 50 * time.Millisecond
		k.run()
		h := k.newHost()
		h.begin(80, 24)
		h.say(link.Keys, []byte("\r"))
		if err := h.link.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.leave()
		k.ends(4)
	})
	t.Run("for a host that does not read", func(t *testing.T) {
		k := keepOf(t, "head -c 2000000 /dev/zero")
		k.config.wait.exit = 50 * time.Millisecond
		k.run()
		h := k.newHost()
		h.begin(80, 24)
		k.signal <- syscall.SIGKILL
		k.ends(128 + int(syscall.SIGKILL))
	})
}

// Signals to the keeper are passed on to the program.
func TestKeepPassesSignalsOn(t *testing.T) {
	// Catch the signal as the bridge does: if it were ignored, as under nohup, the program would ignore it, too.
	taken := make(chan os.Signal, 1)
	ossignal.Notify(taken, syscall.SIGHUP)
	defer ossignal.Stop(taken)
	for name, s := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "TERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			k := keepOf(t, `trap 'exit 33' `+name+`; echo ready; while :; do sleep 0.05; done`).run()
			h := k.newHost()
			h.begin(80, 24)
			h.shows("ready")
			k.signal <- s
			if _, code := h.rest(); code != 33 {
				t.Errorf("it ends with %d", code)
			}
			k.ends(33)
		})
	}
	t.Run("before the program", func(t *testing.T) {
		k := keepOf(t, "true").run()
		k.signal <- syscall.SIGTERM
		<-k.ended
		if k.err == nil || !strings.Contains(k.err.Error(), "terminated") {
			t.Errorf("it ends with %v", k.err)
		}
	})
}

// An error of the start is shown on the terminal.
func TestKeepShowsWhyThereIsNoProgram(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Keep)
		starts bool // as far as the host can tell
		text   string
	}{
		"no such program": {func(k *Keep) { k.Argv = []string{"no-such-program"} }, true, "the image does not have it"},
		"not prepared": {
			func(k *Keep) { k.Prepare = func() ([]string, error) { return nil, errors.New("mounts differ") } }, true, "mounts differ",
		},
		"nothing seen": {
			func(k *Keep) { k.Look = func() (seen.Seen, error) { return seen.Seen{}, errors.New("no eyes") } }, false, "no eyes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := keepOf(t, "")
			tt.change(&k.config)
			k.run()
			h := k.newHost()
			if tt.starts {
				h.seen()
				h.say(link.Go, link.GoData(80, 24, 0))
			}
			h.past()
			if output, code := h.rest(); !strings.Contains(output, tt.text) || code != 1 {
				t.Errorf("it shows %q and ends with %d", output, code)
			}
			k.ends(1)
		})
	}
}
