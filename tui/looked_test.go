package tui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// witness tracks what is on a person's terminal: which call, since when, and which calls
// were there for long enough while the panel was open. It knows only the screens of the
// model, not its state.
type witness struct {
	*harness
	random  *rand.Rand
	picture string       // the text on the terminal
	painted uint64       // the number of the scene that it shows
	reports []paintedMsg // reports of painted scenes that are not delivered yet
	call    int          // the number of the call on the terminal, or 0
	since   time.Time
	looked  map[int]bool
	waiting []int // numbers of the calls
	made    int   // how many calls began to wait
	history []string
}

var (
	callOnScreen  = regexp.MustCompile(`call-(\d+)-`)
	panelOnScreen = regexp.MustCompile(`approval \d+/\d+`)
)

// paints lets the terminal show the newest scene. The report comes at once or later.
func (w *witness) paints() {
	if w.scene.Seq != w.painted {
		w.picture, w.painted = w.screen(), w.scene.Seq
	}
	call := 0 // one that only the strip shows is not on the terminal for long enough, ever
	if found := callOnScreen.FindStringSubmatch(w.picture); found != nil && panelOnScreen.MatchString(w.picture) {
		call, _ = strconv.Atoi(found[1])
	}
	if call != w.call {
		w.leaves()
		w.call, w.since = call, w.now
	}
	if !panelOnScreen.MatchString(w.picture) {
		w.looked = map[int]bool{}
	}
	if w.scene.Report {
		w.reports = append(w.reports, paintedMsg{w.scene.Seq, w.now})
	}
	if w.random.IntN(2) > 0 {
		w.deliver()
	}
}

// leaves notes whether the call that leaves the terminal was there for long enough.
func (w *witness) leaves() {
	if w.call != 0 && w.now.Sub(w.since) >= panel.MinAge {
		w.looked[w.call] = true
	}
}

func (w *witness) deliver() {
	for _, r := range w.reports {
		w.send(r)
	}
	w.reports = nil
}

// act is one thing that a person, an agent or the terminal does.
func (w *witness) act() {
	w.now = w.now.Add(time.Duration(w.random.IntN(8)) * 50 * time.Millisecond)
	switch w.random.IntN(10) {
	case 0:
		w.asks()
	case 1:
		if len(w.waiting) > 3 || len(w.waiting) > 0 && w.random.IntN(4) == 0 {
			w.ends(w.waiting[w.random.IntN(len(w.waiting))])
		}
	case 2, 3, 4, 5:
		w.paints()
	default:
		w.types()
	}
}

// asks lets a call begin to wait, a short or a long one.
func (w *witness) asks() {
	w.made++
	w.note("call %d asks", w.made)
	w.waiting = append(w.waiting, w.made)
	lines := strings.Repeat(fmt.Sprintf(`call-%d-\n`, w.made), []int{1, 1, 1, 1, 1, 1, 60, 1800}[w.random.IntN(8)])
	w.send(brokerMsg{msgOf(escalation(w.made, fmt.Sprintf(`{"path":"/tmp/call-%d-","content":"%s"}`, w.made, lines), ""))})
}

func (w *witness) ends(n int) {
	w.note("call %d ends", n)
	w.forget(n)
	w.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: fmt.Sprintf("e%d", n), Number: n, Outcome: broker.Withdrawn, By: "caller"}}})
}

func (w *witness) forget(n int) {
	w.waiting = slices.DeleteFunc(w.waiting, func(x int) bool { return x == n })
}

// types presses keys, in one write, and checks the decisions that they made.
func (w *witness) types() {
	words := []string{
		"\x01", "\x01", "\x1b", "\x15\t", "\x15\t", "\x15\t", "\x1b[6~", "\r", "\r", "\x15", "x",
		"\x15/approve\r", "\x15/approve all\r", "/deny\r", "\x15/deny all\r", "\x01/approve all\r", "\x1b\x01/approve\r",
	}
	if len(w.waiting) > 0 {
		n := w.waiting[w.random.IntN(len(w.waiting))]
		words = append(words, fmt.Sprintf("\x15/approve %d\r", n), fmt.Sprintf("\x15/deny %d\r", n), fmt.Sprintf("\x01/approve %d\r", n))
	}
	word := words[w.random.IntN(len(words))]
	if w.random.IntN(40) == 0 {
		w.note("the terminal has another size")
		w.send(sizeMsg{60 + 10*w.random.IntN(5), 16 + 4*w.random.IntN(4)})
	}
	w.note("types %q", word)
	together := strings.Contains(w.m.line.Text()+word, " all")
	before := len(w.broker.decisions())
	w.keys(word)
	made := w.broker.decisions()[before:]
	for _, d := range made {
		n, _ := strconv.Atoi(strings.TrimPrefix(d.ID, "e"))
		w.forget(n)
		shown := w.call == n && w.now.Sub(w.since) >= panel.MinAge
		if !shown && !(together && w.looked[n]) {
			w.t.Fatalf("call %d was decided; call %d is on the terminal since %v, looked at: %v\n%s",
				n, w.call, w.now.Sub(w.since), w.looked, strings.Join(w.history, "\n"))
		}
	}
}

func (w *witness) note(format string, args ...any) {
	w.history = append(w.history, w.now.Format("05.000 ")+fmt.Sprintf(format, args...))
}

// Whatever is typed, and however late the terminal paints, no call is decided unless it has
// been on the screen for 300 ms without a break until the decision. Calls that are decided
// together must each have been there for 300 ms at some time since the panel was opened.
func TestNothingIsDecidedThatWasNotLookedAt(t *testing.T) {
	decided := 0
	for seed := range uint64(100) {
		w := &witness{harness: newHarness(t, 80, 24, demo()), random: rand.New(rand.NewPCG(seed, 7)), looked: map[int]bool{}}
		for range 120 {
			w.act()
		}
		decided += len(w.broker.decisions())
	}
	if decided < 60 {
		t.Errorf("only %d decisions were made, too few to check anything", decided)
	}
}
