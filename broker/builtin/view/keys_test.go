package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// stays is a turn that ends only when it is interrupted, and then when the test says.
func stays(begun chan<- struct{}, goOn <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		<-goOn
		return ctx.Err()
	}
}

// Esc gives the prompt back at once at any moment of a turn, however long the turn takes to
// notice; what was shown stays.
func TestEscInterruptsAtEveryMoment(t *testing.T) {
	moments := []builtin.Event{
		{Kind: builtin.Saying, Text: "# Half a head"},
		{Kind: builtin.Saying, Text: "\nhalf a ```"},
		{Kind: builtin.Retrying, Text: "busy", Until: time.Now().Add(time.Hour)},
		{Kind: builtin.ProgramBegan, Program: 1, Text: "code"},
		call(1, "git/git_push", "", builtin.CallRuns, 0),
		call(1, "git/git_push", "", builtin.CallWaits, 0),
		{Kind: builtin.ProgramEnded, Program: 1, Text: "done"},
		{Kind: builtin.Said},
	}
	for n := range len(moments) + 1 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := sit(t, 80, 24, nil)
			d.types("begin\r")
			<-d.agent.asked
			begun, goOn := make(chan struct{}), make(chan struct{})
			d.agent.orders <- stays(begun, goOn)
			<-begun
			d.emits(moments[:n]...)
			d.types("later\x1b")
			d.sees("interrupting")
			d.sees("> later")
			if n < len(moments) {
				d.emits(moments[n]) // comes too late, and must not be in the way
			}
			d.types("\x1b")
			d.misses("> later")
			close(goOn)
			d.sees("  interrupted")
			d.misses("asked again")
			d.types("again\r")
			if got := <-d.agent.asked; got != "again" {
				t.Error(got)
			}
			d.agent.orders <- func(context.Context) error { return nil }
			d.misses("working")
			if got := d.reported(); !strings.HasSuffix(got, "state=done") {
				t.Error(got)
			}
		})
	}
}

func TestCtrlC(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.types("abc\x03")
	d.misses("abc")
	d.types("\x03")
	d.sees("Ctrl-D ends")
	d.types("x\r")
	d.misses("Ctrl-D ends")
	<-d.agent.asked
	d.types("\x03")
	d.sees("interrupted")
	d.types("y\x04") // not empty
	d.types("\x7f\x04")
	d.leaves()
	if got := d.text(); strings.Contains(got, "working") || !strings.HasSuffix(got, "  interrupted\n") {
		t.Errorf("the frame is left behind: %q", got)
	}
	if got := d.reported(); !strings.HasSuffix(got, "state=idle") {
		t.Error(got)
	}
}

// The view ends with its input and with its context, and with a turn in it.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(d *desk){
		"ctrl-d":  func(d *desk) { d.types("\x04") },
		"input":   func(d *desk) { d.keys.put(nil, true) },
		"context": func(d *desk) { d.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t, 80, 24, nil)
			d.types("work\r")
			<-d.agent.asked
			begun := make(chan struct{})
			d.agent.orders <- func(ctx context.Context) error {
				close(begun)
				for i := 0; ; i++ { // an agent that says something all the time, also at its end
					d.events <- builtin.Event{Kind: builtin.Saying, Text: fmt.Sprintln("row", i)}
					if ctx.Err() != nil && i%100 == 99 {
						return ctx.Err()
					}
				}
			}
			<-begun
			d.sees("row 9")
			end(d)
			d.leaves()
		})
	}
}

func TestTerminalThatIsGone(t *testing.T) {
	keys := newStream()
	done := make(chan error)
	go func() {
		done <- Run(t.Context(), Options{In: keys, Out: gone{}, Size: func() (int, int) { return 80, 24 }, Agent: &fake{}})
	}()
	keys.put([]byte("\x04"), true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWhatIsSentWhileItWorksWaits(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.types("first\r")
	<-d.agent.asked
	d.types("second\r")
	d.sees("  next: second")
	d.types("third\nwith two rows\r")
	d.sees("  next: third")
	d.types("/compact\r")
	d.sees("  next: /compact")
	for i := range 5 {
		d.types(fmt.Sprintf("more %d\r", i))
	}
	d.sees("  and 5 more")
	d.types("\x1b") // interrupts
	if got := <-d.agent.asked; got != "second" {
		t.Error(got)
	}
	d.sees("  next: third")
	d.types("\x1b")
	if got := <-d.agent.asked; got != "third\nwith two rows" {
		t.Error(got)
	}
	d.agent.orders <- func(context.Context) error { return errors.New("the model is gone: ask\x1b[2J later") }
	d.sees(`the model is gone: ask\e[2J later`)
	if got := <-d.agent.asked; got != "/compact" {
		t.Error(got)
	}
	d.sees("made shorter")
	if got := <-d.agent.asked; got != "more 0" {
		t.Error(got)
	}
	for range 4 { // clears nothing, and takes back
		d.types("\x15\x1b[27u")
	}
	d.sees("interrupted")
}

func TestEscTakesBackWhatWaits(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.types("first\r")
	<-d.agent.asked
	begun, goOn := make(chan struct{}), make(chan struct{})
	d.agent.orders <- stays(begun, goOn)
	<-begun
	d.types("second\r\x1b")
	d.sees("interrupting")
	d.types("\x1b")
	d.until("second in the input", func(s string) bool { return strings.Contains(s, "\n> second") && !strings.Contains(s, "next:") })
	close(goOn)
	d.sees("  interrupted")
}

func TestPaste(t *testing.T) {
	long := strings.Repeat("Zeile mit Grüßen \x1b[A\x1b[<0;1;1M\t漢字\x00\n", 30000)
	for name, c := range map[string]struct{ pasted, shown, sent string }{
		"short":     {"one\rtwo", "> one\n  two", "one\ntwo"},
		"tab":       {"a\tb", "[pasted 3 bytes]", "a\tb"},
		"invisible": {"a\u200bb", "[pasted 5 bytes]", "a\u200bb"},
		"1 MB":      {long, "[pasted 30,001 lines]", long},
	} {
		t.Run(name, func(t *testing.T) {
			d := sit(t, 80, 24, nil)
			d.types("\x1b[200~")
			d.types(c.pasted)
			d.types("\x1b[201~")
			d.sees(c.shown)
			d.types("!\r")
			if got := <-d.agent.asked; got != c.sent+"!" {
				t.Errorf("%d bytes are sent, want %d", len(got), len(c.sent)+1)
			}
			d.types("\x1b[27u\x1b[A") // what was sent can be sent again
			d.sees("!\n")
			d.types("?\r")
			if got := <-d.agent.asked; got != c.sent+"!?" {
				t.Errorf("%d bytes are sent, want %d", len(got), len(c.sent)+2)
			}
		})
	}
}

// Signs of pastes may come in pieces, and two pastes of the same size stay apart.
func TestPastesInPieces(t *testing.T) {
	k := &keyboard{pastes: map[string]string{}}
	var out string
	for _, b := range []byte("a\x1b[200~one\x1b[20\x1b[201~b\x1b\x1b[200~two\x1b[201~") {
		out += string(k.filter([]byte{b}))
	}
	if out != "a\x1b[200~1\x1b[201~b\x1b\x1b[200~2\x1b[201~" {
		t.Errorf("%q", out)
	}
	if one, two := k.take("1"), k.take("2"); one != "one\x1b[20" || two != "two" || k.take("1") != "" {
		t.Errorf("%q %q", one, two)
	}
	in := newInput()
	a, b := strings.Repeat("a\n", 20), strings.Repeat("b\n", 20)
	in.paste(a)
	in.paste(b)
	if got := in.text(); got != a+b {
		t.Errorf("%q", got)
	}
}

func TestHistory(t *testing.T) {
	d := sit(t, 80, 24, nil)
	for _, s := range []string{"one", "two\nrows"} {
		d.types(s + "\r")
		<-d.agent.asked
		d.agent.orders <- func(context.Context) error { return nil }
		d.misses("working")
	}
	d.types("draft\x1b[A") // up
	d.sees("> two\n  rows\n")
	d.types("\x1b[A\x1b[A")
	d.until("one", func(s string) bool {
		return strings.HasSuffix(strings.TrimRight(s[:strings.LastIndex(s, "sonnet")], " \n"), "> one")
	})
	d.types("\x1b[B\x1b[B\x1b[B\x1b[B")
	d.sees("> draft")
}

func TestCommands(t *testing.T) {
	d := sit(t, 80, 24, func(o *Options) {
		a := o.Agent.(*fake)
		a.codes[2] = "line 1\n\x1b[2Jline 2\n"
	})
	for _, c := range [][2]string{
		{"/help", "Alt-Enter"},
		{"/programs", "no programs yet"},
		{"/programs 2", "│ \\e[2Jline 2"},
		{"/programs 7", "there is no program 7"},
		{"/programs x", "needs the number"},
		{"/model", "the model is sonnet"},
		{"/model none", "no provider has it"},
		{"/model opus", "from now on the model is opus"},
		{"/model", "the model is sonnetopus"},
		{"/compact", "made shorter"},
		{"/approve", "there is no /approve here: /help lists the commands; for a command of the"},
		{"\x15/modle x", "there is no /modle; did you mean /model?"},
	} {
		d.types(c[0] + "\r")
		d.sees(c[1])
	}
	d.sees("> /modle x") // to be corrected
	d.types("\x15/etc/passwd is a file\r")
	for got := range d.agent.asked {
		if got != "/compact" {
			if got != "/etc/passwd is a file" {
				t.Error(got)
			}
			break
		}
	}
	d.emits(
		builtin.Event{Kind: builtin.ProgramBegan, Program: 3, Text: "\n first line\nsecond"},
		builtin.Event{Kind: builtin.ProgramEnded, Program: 3, Failed: true},
		builtin.Event{Kind: builtin.ProgramBegan, Program: 4, Text: "x"},
	)
	d.types("/programs\r")
	d.sees("program 3    failed     0 calls  first line")
	d.sees("program 4    runs")
}

// A character may arrive in pieces, and two rows are enough.
func TestTypedInPieces(t *testing.T) {
	for _, rows := range []int{24, 2} {
		d := sit(t, 80, rows, func(o *Options) { o.In = iotest.OneByteReader(o.In) })
		d.types("ä漢👍")
		d.sees("> ä漢👍")
	}
}

// The cursor stands behind what was typed, in letters of any script and emoji of several parts.
func TestCursorBehindAllScripts(t *testing.T) {
	for _, typed := range []string{"שלום", "e\u0301n\u0303", "नमस्ते", "สวัสดี", "漢字", "👍🏽", "👩‍👩‍👧", "❤️", "🇩🇪"} {
		d := sit(t, 80, 24, nil)
		d.types(typed)
		d.sees("> " + typed + "\n")
		d.types("|")
		d.sees("> " + typed + "|\n")
		at := d.screen.Cursor().X
		if want := 2 + columns(foreign(typed, 0)...) + 1; at != want {
			t.Errorf("%q: the cursor is in column %d, not %d", typed, at, want)
		}
	}
}
