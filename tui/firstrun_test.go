package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
)

// firstRun is a first start, and what it keeps.
type firstRun struct {
	*harness
	kept   tour.Seen
	prefix string
	fail   error
}

func newFirstRun(t *testing.T, cols, rows int, change func(*Options)) *firstRun {
	t.Helper()
	f := &firstRun{prefix: "unset"}
	o := demo()
	o.Prefix, o.Intro = "", nil
	o.KeepSeen = func(s tour.Seen) error { f.kept = f.kept.With(s); return nil }
	o.KeepPrefix = func(key string) error { f.prefix = key; return f.fail }
	if change != nil {
		change(&o)
	}
	f.harness = newHarness(t, cols, rows, o)
	f.state(1, broker.StateIdle)
	f.agentSays(1, agentScreen)
	return f
}

// says reports whether the screen shows a text.
func (f *firstRun) says(text string) bool { return strings.Contains(f.screen(), text) }

// noticeTime is how long a message stays.
const noticeTime = 6 * time.Second

// The tour goes forward as the person does what it says, and takes no key from the agent.
func TestTheTourGoesForward(t *testing.T) {
	f := newFirstRun(t, 100, 24, nil)
	f.wants("1/5 what you type goes to the agent")
	f.keys("a")
	f.wants("2/5 Ctrl-A: the command line")
	f.keys("bc")
	if got := f.queued(1); got != "abc" {
		t.Errorf("the agent got %q", got)
	}
	f.keys("\x01")
	f.wants("Ctrl-X ends the tour")
	f.keys("\x1b")
	f.wants("3/5 when a call waits")
	f.escalate(1, `{"path":"/tmp/b"}`, "")
	f.keys("\x01")
	f.look()
	f.keys("/approve\r")
	f.decided(1)
	f.now = f.now.Add(noticeTime)
	f.send(changedMsg{})
	f.wants("4/5 /new opens a tab")
	f.keys("\x01/new shell\r")
	f.now = f.now.Add(noticeTime)
	f.state(2, broker.StateIdle)
	f.agentSays(2, "$ ")
	f.send(changedMsg{})
	f.wants("5/5 /detach")
	f.keys("\x01\x1b")
	f.wants("Ctrl-A command line")
	if f.kept.Steps != len(tour.Steps("")) {
		t.Errorf("kept %+v", f.kept)
	}
}

func TestTheTourIsEndedByOneKey(t *testing.T) {
	f := newFirstRun(t, 100, 24, nil)
	f.keys("\x01\x18")
	if f.says("ends the tour") || f.m.mode != modeCommand || !f.m.line.Empty() {
		t.Errorf("mode %d\n%s", f.m.mode, f.screen())
	}
	f.keys("\x1b")
	f.wants("Ctrl-A command line")
	if f.kept.Steps != len(tour.Steps("")) {
		t.Errorf("kept %+v", f.kept)
	}
}

// Nobody is told or asked twice, nor where they could not answer.
func TestNothingIsToldTwice(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"before":      func(o *Options) { o.Seen = tour.Seen{Steps: 5, Prefix: true, Phrase: true} },
		"no place":    func(o *Options) { o.KeepSeen = nil },
		"read-only":   func(o *Options) { o.Rights = See },
		"a safe view": func(o *Options) { o.Safe = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFirstRun(t, 100, 24, nil)
			f.wants("1/5 ")
			change(&f.m.o)
			f.send(changedMsg{})
			if f.says("/5 ") {
				t.Errorf("the tour is shown:\n%s", f.screen())
			}
			f.keys("\x01")
			if f.says("tmux") {
				t.Errorf("the prefix is asked for:\n%s", f.screen())
			}
			f.escalate(1, `{"path":"/tmp/b"}`, "")
			if f.says("drawn by an agent") {
				t.Errorf("the phrase is explained:\n%s", f.screen())
			}
		})
	}
}

func TestThePrefixIsTaken(t *testing.T) {
	f := newFirstRun(t, 100, 24, nil)
	f.keys("\x02")
	if got := f.queued(1); got != "\x02" {
		t.Errorf("the agent got %q: the question took its key", got)
	}
	f.keys("\x01")
	f.wants("Do you know tmux?", "c new tab", "] paste", "asked once")
	f.keys("\x02")
	f.wants("Ctrl-B is now the prefix key")
	if f.prefix != "ctrl+b" || !f.kept.Prefix || f.says("Do you know tmux?") {
		t.Errorf("prefix %q, kept %+v", f.prefix, f.kept)
	}
	f.keys("\x02")
	f.wants("after Ctrl-B", ", name")
	f.keys("\x02")
	if got := f.queued(1); got != "\x02\x02" {
		t.Errorf("the prefix twice sent %q", got)
	}
	f.keys("\x01/prefix none\r\x02")
	if got := f.queued(1); got != "\x02\x02\x02" || f.prefix != "" {
		t.Errorf("without a prefix the agent got %q; kept %q", got, f.prefix)
	}
}

// Where there is no room to ask, the key that would take the prefix moves the cursor.
func TestThePrefixIsNotTakenUnasked(t *testing.T) {
	f := newFirstRun(t, 30, 8, nil)
	f.keys("\x01")
	if f.says("tmux") {
		t.Fatal("it is asked")
	}
	f.keys("\x02")
	if f.m.keys.Prefix != "" || f.kept.Prefix {
		t.Errorf("the prefix is %q, kept %+v", f.m.keys.Prefix, f.kept)
	}
}

func TestThePrefixIsAskedForOnce(t *testing.T) {
	for name, answer := range map[string]string{"Esc": "\x1b", "a command": "/mute\r", "a text": "fix it\r"} {
		t.Run(name, func(t *testing.T) {
			f := newFirstRun(t, 100, 24, nil)
			f.keys("\x01")
			f.look()
			f.keys(answer)
			if !f.kept.Prefix || f.prefix != "unset" {
				t.Errorf("kept %+v, prefix %q", f.kept, f.prefix)
			}
			f.keys("\x01")
			if f.says("Do you know tmux?") {
				t.Error("it is asked again")
			}
		})
	}
	f := newFirstRun(t, 100, 24, nil)
	f.keys("\x01/mute\r\x01") // nobody can have read it
	f.wants("Do you know tmux?")
}

func TestThePrefixCannotBeKept(t *testing.T) {
	f := newFirstRun(t, 100, 24, nil)
	f.fail = errors.New("the disk is read-only")
	f.keys("\x01\x02")
	f.wants("the disk is read-only", "until you leave")
	f.keys("\x01/prefix x\r")
	f.wants("neither a key with Ctrl or Alt")
}

// What the phrase is for stands below it until the person has had time to read it, and hides no row.
func TestThePhraseIsExplained(t *testing.T) {
	f := newFirstRun(t, 100, 24, nil)
	f.escalate(1, `{"path":"/tmp/b"}`, "")
	f.keys("\x01")
	f.wants("“amber fox” is known to this program only", "digest: ")
	f.look()
	f.keys("/approve\r")
	f.decided(1)
	if !f.kept.Phrase {
		t.Errorf("kept %+v", f.kept)
	}
	f.escalate(2, `{"path":"/tmp/c"}`, "")
	f.keys("\x01")
	if f.says("known to this program only") {
		t.Error("it is explained again")
	}
	small := newFirstRun(t, 20, 6, nil)
	small.escalate(1, `{"path":"/tmp/b"}`, "")
	small.keys("\x01")
	small.look()
	small.keys("\x1b")
	if small.kept.Phrase {
		t.Error("it counts as explained where there was no room")
	}
}

// The prefix begins commands whose arguments the person types, and keeps the line that was begun.
func TestPrefixKeysBeginCommands(t *testing.T) {
	for keys, want := range map[string]string{",": "/rename ", ".": "/move ", "w": "/tab ", "'": "/tab "} {
		r := newHarness(t, 80, 24, demo())
		r.keys("\x01a draft\x1b\x02" + keys)
		if got := r.m.line.Text(); got != want || r.m.mode != modeCommand {
			t.Errorf("%s begins %q in mode %d", keys, got, r.m.mode)
		}
		r.keys("\x15\x1b[A")
		if got := r.m.line.Text(); got != "a draft" {
			t.Errorf("%s: the line that was begun is %q", keys, got)
		}
	}
	r := newHarness(t, 80, 24, demo())
	r.keys("\x01/new shell\r")
	shown := r.m.active
	r.keys("\x02w\x1b[B")
	r.wants("Enter shows it")
	r.keys("\r")
	if r.m.active == shown || r.m.mode != modeTerminal {
		t.Errorf("Enter in the list of tabs leaves tab %d in front, mode %d", r.m.active+1, r.m.mode)
	}
	r.keys("\x02w\x1b")
	if got := r.m.line.Text(); got != "" {
		t.Errorf("Esc leaves %q on the line", got)
	}
	r.keys("\x02w\x15/split \x1b[B\r")
	if got := r.m.line.Text(); r.m.mode != modeCommand || !strings.HasPrefix(got, "/split ") {
		t.Errorf("another command was run: %q in mode %d", got, r.m.mode)
	}
	r = newHarness(t, 80, 24, demo())
	r.keys("\x02s")
	if r.m.mode != modePicker {
		t.Error("s does not list the sessions")
	}
}

// The prefix and ] paste what was copied, as one paste.
func TestPrefixPastes(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.agentSays(1, "\x1b[?2004h")
	r.keys("\x02]")
	r.wants("nothing was copied here yet")
	r.m.copied = []byte("two\nlines")
	r.keys("\x02]")
	if got := r.queued(1); got != "\x1b[200~two\nlines\x1b[201~" {
		t.Errorf("pasted %q", got)
	}
}

// 0 is the tenth tab, as the key stands behind the 9.
func TestTheTenthTab(t *testing.T) {
	r := newHarness(t, 200, 24, demo())
	for range 9 {
		r.keys("\x01/new shell\r")
	}
	r.keys("\x021")
	if r.m.active != 0 {
		t.Fatalf("tab %d", r.m.active+1)
	}
	r.keys("\x020")
	if r.m.active != 9 {
		t.Errorf("tab %d", r.m.active+1)
	}
}
