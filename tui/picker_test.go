package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// storedSessions are three sessions on disk: one that was left running, one that
// is open elsewhere, one that was closed.
func storedSessions() []broker.StoredSession {
	session := func(id, agent, workspace string) broker.Session {
		return broker.Session{ID: id, Agent: agent, Workspace: workspace, State: broker.StateClosed}
	}
	return []broker.StoredSession{
		{Session: session("aaaaaaaa-1", "claude-code", "/src/project"), LastActivity: testTime.Add(-3 * time.Minute), Detached: true, LastPrompt: "fix\x1b[31m it"},
		{Session: session("bbbbbbbb-2", "shell", "/home/x/.ironcurtain/sessions/bbbbbbbb-2/sandbox"), LastActivity: testTime.Add(-2 * time.Hour), Owned: true},
		{Session: session("cccccccc-3", "claude-code", "/src/other"), LastActivity: testTime.Add(-50 * time.Hour)},
	}
}

func pickerHarness(t *testing.T) *harness {
	t.Helper()
	r := newHarness(t, 100, 24, Options{})
	r.broker.stored = storedSessions()
	r.keys("\x01/resume\r")
	return r
}

// lastOpened is the newest request for a session.
func (r *harness) lastOpened() broker.OpenRequest { return r.broker.opened[len(r.broker.opened)-1] }

func TestPickerShowsWhatAPersonChoosesBy(t *testing.T) {
	r := pickerHarness(t)
	screen := r.m.drawPicker().String()
	for _, want := range []string{
		"aaaaaaaa  claude-code   left running    3m ago", "/src/project", "bbbbbbbb  shell         open elsewhere  2h ago",
		"cccccccc", "closed", "2d ago", "/src/other",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "sandbox") || strings.Contains(screen, "\x1b") || !strings.Contains(screen, "“fix") {
		t.Errorf("shown:\n%s", screen)
	}
}

// The columns behind the state are aligned, however long a state is.
func TestPickerKeepsItsColumns(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.stored = storedSessions()
	r.broker.stored[0].Waiting = 12
	r.keys("\x01/resume\r")
	r.wants("left running, 12 waiting  3m ago", "open elsewhere            2h ago", "closed                    2d ago")
}

func TestPickerShortensDirectoriesAtTheFront(t *testing.T) {
	for path, want := range map[string]string{
		"/src/project":                                       "/src/project",
		"/a/very/long/way/down/to/the/project":               "…/way/down/to/the/project",
		"/a/" + strings.Repeat("x", 40):                      "…/" + strings.Repeat("x", 25) + "…",
		"relative-and-much-too-long-to-be-shown-in-a-column": "relative-and-much-too-long-…",
		"/a\x1b[31m/b":                                       `/a\e[31m/b`,
	} {
		if got := view.PlaceColumn(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestPickerResumesTheChosenSession(t *testing.T) {
	r := pickerHarness(t)
	opened := len(r.broker.opened)
	r.keys("j\r")
	if len(r.broker.opened) != opened || r.m.mode != modePicker || !strings.Contains(r.m.said().Text, "another multiplexer") {
		t.Errorf("a session that is open elsewhere: %+v, %q", r.broker.opened, r.m.said().Text)
	}
	r.keys("j\r")
	if got := r.lastOpened(); got.Resume != "cccccccc-3" || got.Agent != "" || got.Cols != 100 || r.m.mode != modeTerminal {
		t.Errorf("asked for %+v, mode %d", got, r.m.mode)
	}
}

func TestPickerIsLeftWithoutEffect(t *testing.T) {
	r := pickerHarness(t)
	opened := len(r.broker.opened)
	r.keys("\x1b")
	r.keys("x")
	if len(r.broker.opened) != opened || r.m.mode != modeTerminal || r.queued(1) != "x" {
		t.Errorf("opened %+v, mode %d, the agent got %q", r.broker.opened, r.m.mode, r.queued(1))
	}
}

func TestResumeByTheStartOfAnID(t *testing.T) {
	r := pickerHarness(t)
	opened := len(r.broker.opened)
	r.keys("\x1b")
	r.keys("\x01/resume zz\r")
	if len(r.broker.opened) != opened || !strings.Contains(r.m.said().Text, "no session has an id that begins with zz") {
		t.Errorf("opened %+v, said %q", r.broker.opened, r.m.said().Text)
	}
	r.keys("\x01/resume CCC\r")
	if got := r.lastOpened(); got.Resume != "cccccccc-3" {
		t.Errorf("asked for %+v", got)
	}
}

func TestPickerEndsWhatWasLeftRunning(t *testing.T) {
	r := pickerHarness(t)
	r.broker.sessions = append(r.broker.sessions, broker.Session{ID: "aaaaaaaa-1"})
	r.keys("xn")
	if n := len(r.broker.sessions); n != 2 {
		t.Fatalf("%d sessions after no", n)
	}
	r.broker.stored = r.broker.stored[1:]
	r.keys("xy")
	if n := len(r.broker.sessions); n != 1 || r.m.mode != modePicker || len(r.m.picker.rows) != 2 {
		t.Errorf("%d sessions after yes, %d rows", n, len(r.m.picker.rows))
	}
	r.keys("x")
	if r.m.question != nil {
		t.Error("an agent that does not run can be ended")
	}
}

// The first tab can continue an earlier session. A session that is resumed while its dead
// tab is still open replaces that tab.
func TestResumedSessionReplacesItsDeadTab(t *testing.T) {
	r := newHarness(t, 100, 24, Options{Resume: "cccccccc-3"})
	if got := r.lastOpened(); got.Resume != "cccccccc-3" {
		t.Fatalf("asked for %+v", got)
	}
	dead := r.m.tabs[0].session
	dead.State = broker.StateDead
	r.send(brokerMsg{broker.Event{Session: &dead}})
	old := r.m.tabs[0]
	again := dead
	again.Life, again.State = 7, broker.StateStarting
	r.send(brokerMsg{broker.Event{Session: &again}})
	if len(r.m.tabs) != 1 || r.m.tabs[0] == old || r.m.tabs[0].session.Life != 7 {
		t.Errorf("tabs: %+v", r.m.tabs)
	}
}

// On a dead tab, its own session is selected in the list.
func TestPickerBeginsWithTheDeadTab(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.stored = append(storedSessions(), broker.StoredSession{Session: broker.Session{ID: "s1", Agent: "claude-code", State: broker.StateDead}, Owned: true})
	r.state(1, broker.StateDead)
	r.wants("/restart, /resume or /close")
	r.keys("\x01/resume\r")
	r.keys("\r")
	if got := r.lastOpened(); got.Resume != "s1" {
		t.Errorf("asked for %+v", got)
	}
}

// A shell of this machine keeps nothing, so the list does not offer to continue one.
func TestWhatCannotBeResumedIsNotOffered(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	shell := broker.Session{ID: "dddddddd-4", Agent: "local-shell", State: broker.StateDead, Ephemeral: true}
	r.broker.stored = append(storedSessions(), broker.StoredSession{Session: shell})
	r.keys("\x01/resume\r")
	if n := len(r.m.picker.rows); n != 3 || strings.Contains(r.m.drawPicker().String(), "local-shell") {
		t.Errorf("%d rows:\n%s", n, r.m.drawPicker())
	}
	r.keys("q\x01/resume dd\t")
	if got := r.m.line.Text(); got != "/resume dd" {
		t.Errorf("the line holds %q", got)
	}
	dead := r.m.numbered(1).session
	dead.State, dead.Ephemeral = broker.StateDead, true
	r.keys("\x1b")
	r.send(brokerMsg{broker.Event{Session: &dead}})
	r.now = r.now.Add(time.Minute) // the message has gone
	r.m.dirty = true
	r.m.refresh()
	r.wants("/restart or /close")
}

// The text how an agent ended says it only once.
func TestEpitaph(t *testing.T) {
	for _, test := range []struct {
		code         int
		reason, want string
	}{
		{3, "ended with code 3", "shell ended with code 3"},
		{143, "ended by signal 15", "shell ended by signal 15"},
		{0, "ended by itself", "shell ended by itself"},
		{137, "the memory limit was hit and the kernel ended it", "shell ended with exit code 137: the memory limit was hit and the kernel ended it"},
		{1, "", "shell ended with exit code 1"},
	} {
		dead := tab{session: broker.Session{Agent: "shell", ExitCode: test.code, Reason: test.reason}}
		if got := dead.endText(); got != test.want {
			t.Errorf("%d, %q: %q, want %q", test.code, test.reason, got, test.want)
		}
	}
}

// offerHarness is a multiplexer that offers the agents that another one left running.
func offerHarness(t *testing.T) *harness {
	t.Helper()
	r := bareHarness(t, Options{Offer: func(context.Context) bool { return true }, Agent: "shell"})
	r.broker.stored = storedSessions()
	r.send(sizeMsg{100, 24})
	if len(r.m.picker.rows) != 1 || len(r.broker.opened) != 0 {
		t.Fatalf("offered %+v, opened %+v", r.m.picker.rows, r.broker.opened)
	}
	return r
}

func TestOfferTakesBackInThePlaceOfTheFirstTab(t *testing.T) {
	for _, key := range []string{"\r", "a"} {
		r := offerHarness(t)
		r.keys(key)
		if len(r.broker.opened) != 1 || r.lastOpened().Resume != "aaaaaaaa-1" || r.m.mode != modeTerminal {
			t.Errorf("%q: opened %+v, mode %d", key, r.broker.opened, r.m.mode)
		}
	}
}

// Until it is known which agents were left running, there is a screen already, and no key
// chooses anything.
func TestOfferIsAwaitedBehindTheFirstFrame(t *testing.T) {
	for _, found := range []bool{true, false} {
		known := make(chan bool, 1)
		r := bareHarness(t, Options{Offer: func(context.Context) bool { return <-known }, Agent: "shell"})
		r.broker.stored = storedSessions()
		_, cmd := r.m.Update(sizeMsg{100, 24})
		r.wants("looking for agents that were left running", "Esc back")
		r.keys("l\r")
		if r.m.mode != modePicker || len(r.broker.opened) != 0 {
			t.Fatalf("mode %d, opened %+v", r.m.mode, r.broker.opened)
		}
		known <- found
		r.run(cmd)
		if found {
			r.wants("aaaaaaaa", "still run")
		} else if len(r.broker.opened) != 1 || r.lastOpened().Agent != "shell" || r.queued(1) != "l\r" {
			t.Errorf("opened %+v, typed %q", r.broker.opened, r.queued(1))
		}
	}
}

func TestOfferThatIsDeclinedOpensTheFirstTab(t *testing.T) {
	r := offerHarness(t)
	r.keys("q")
	if len(r.broker.opened) != 1 || r.lastOpened().Agent != "shell" || r.lastOpened().Resume != "" {
		t.Errorf("opened %+v", r.broker.opened)
	}
	r = offerHarness(t)
	r.broker.sessions = append(r.broker.sessions, broker.Session{ID: "aaaaaaaa-1"})
	r.broker.stored = nil
	r.keys("xy")
	if len(r.broker.opened) != 1 || r.lastOpened().Agent != "shell" {
		t.Errorf("after all were ended: opened %+v", r.broker.opened)
	}
}

// Queries in output from before the restart are not answered again.
func TestHistoryIsNotAnsweredAgain(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	answered := make(chan string, 1)
	past := "before\a\x1b[c\x1b]52;c;c2VjcmV0\a"
	r.broker.agent = func(term *fakeTerminal) {
		_, _ = term.agentW.Write([]byte(past + "now\x1b[6n"))
		buf := make([]byte, 100)
		n, _ := term.agentR.Read(buf)
		answered <- string(buf[:n])
	}
	r.broker.past = int64(len(past))
	r.send(brokerMsg{broker.Event{Session: &broker.Session{ID: "back", Tab: 9, State: broker.StateIdle}}})
	if got := <-answered; got != "\x1b[1;10R" {
		t.Errorf("the agent got the replies %q", got)
	}
	if r.requests != 0 || len(r.copied) != 0 {
		t.Errorf("%d requests, copied %q", r.requests, r.copied)
	}
}

func TestSessionsAreCompleted(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.stored = storedSessions()
	for typed, want := range map[string]string{
		"cc": "/resume cccccccc ", "cccccccc-": "/resume cccccccc-3 ",
	} {
		r.keys("\x01\x15/resume " + typed + "\t")
		if got := r.m.line.Text(); got != want {
			t.Errorf("the line holds %q, want %q", got, want)
		}
		r.keys("\x1b")
	}
}

// Text that an agent wrote into its workspace is sanitized like all other text of agents.
func TestDiffShowsTheChanges(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.changes = broker.Changes{Base: strings.Repeat("ab", 20), Text: "+a line\x1b[31m red\nnew file: x\n", Cut: true}
	r.keys("\x01/diff\r")
	screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String()
	if r.m.mode != modeHelp || strings.Contains(screen, "\x1b") {
		t.Errorf("mode %d, shown:\n%s", r.m.mode, screen)
	}
	for _, want := range []string{"changed since its start at abababab", "+a line", "new file: x", "too long"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
	r.keys("q")
	if r.m.mode != modeTerminal {
		t.Errorf("mode %d", r.m.mode)
	}
}

// Of an agent without a container the names of files are shown, and said to be no more.
func TestDiffNamesWrittenFiles(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.changes = broker.Changes{Since: time.Now(), Text: "file: x\n"}
	r.keys("\x01/diff\r")
	if screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String(); !strings.Contains(screen, "names of the files written since its start") || !strings.Contains(screen, "file: x") {
		t.Errorf("shown:\n%s", screen)
	}
}

// Changes that programs of this machine would run are listed before all others, and are
// shown even when the others cannot be.
func TestDiffNamesDangersFirst(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	danger := broker.Obeyed{Found: []broker.Danger{{Path: ".git/hooks/\x1b[31mx", Why: "git runs it as a hook", State: "new"}}, Missed: "there are more"}
	for _, c := range []broker.Changes{{Text: "+a line\n", Obeyed: danger}, {Trouble: "the container does not run", Obeyed: danger}} {
		r.broker.changes = c
		r.keys("\x01/diff\r")
		screen := r.m.help.Draw(r.m.lay.Viewport, r.m.theme).String()
		at := 0
		for _, want := range []string{"look at them before you use git", "new: \".git/hooks/", "git runs it as a hook", "not everything was looked at", "all changes", c.Text + c.Trouble} {
			i := strings.Index(screen[at:], strings.TrimSpace(want))
			if i < 0 {
				t.Errorf("%q is not shown there:\n%s", want, screen)
				break
			}
			at += i
		}
		if strings.Contains(screen, "\x1b") {
			t.Errorf("shown raw:\n%s", screen)
		}
		r.keys("q")
	}
}

// A state has one name: in the tab bar, in the list of sessions here and in that of the command
// line.
func TestAStateHasOneName(t *testing.T) {
	for _, s := range []broker.Session{
		{State: broker.StateStarting}, {State: broker.StateIdle}, {State: broker.StateWorking}, {State: broker.StateWaiting}, {State: broker.StateUnknown}, {State: broker.StateDead},
	} {
		for _, s.Trouble = range []string{"", "the engine does not answer"} {
			one := &tab{session: s}
			if _, word, _ := one.mark(); word != s.StateWords() || word != (broker.StoredSession{Session: s, Owned: true}).StateWords() {
				t.Errorf("%s, %q: %s in the bar, %s in lists", s.State, s.Trouble, word, s.StateWords())
			}
		}
	}
}
