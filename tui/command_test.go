package tui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// TestCommandModeContract walks through what scripts and people rely on.
func TestCommandModeContract(t *testing.T) {
	tests := []struct {
		name   string
		keys   string
		queued string // what the agent gets
		line   string // what is left on the command line
		mode   mode
	}{
		{"keys go to the agent", "ls -l\r", "ls -l\r", "", modeTerminal},
		{"control keys too", "\x03\x05\x1c\x00", "\x03\x05\x1c\x00", "", modeTerminal},
		{"the command key opens the line", "\x01ls", "", "ls", modeCommand},
		{"twice sends it", "\x01\x01", "\x01", "", modeTerminal},
		{"twice with text keeps the text", "\x01ab\x01c", "\x01c", "ab", modeTerminal},
		{"escape closes and keeps", "\x01ab\x1b", "", "ab", modeTerminal},
		{"and it is there again", "\x01ab\x1b\x01c", "", "abc", modeCommand},
		{"enter sends and returns", "\x01fix it\rx", "fix it\rx", "", modeTerminal},
		{"empty enter returns", "\x01\rx", "x", "", modeTerminal},
		{"a slash is a command", "\x01/nope\r", "", "/nope", modeCommand},
		{"two slashes are text", "\x01//review all\r", "/review all\r", "", modeTerminal},
		{"a space before ?", "\x01 ?\r", "?\r", "", modeTerminal},
		{"a space before [", "\x01 [x\r", "[x\r", "", modeTerminal},
		{"a space before /", "\x01 /x\r", "/x\r", "", modeTerminal},
		{"? shows the keys", "\x01?", "", "", modeHelp},
		{"q closes them", "\x01?qx", "x", "", modeTerminal},
		{"[ opens copy mode", "\x01[", "", "", modeCopy},
		{"PgUp too", "\x01\x1b[5~", "", "", modeCopy},
		{"q leaves it", "\x01[qx", "x", "", modeTerminal},
		{"? inside a text is text", "\x01a?\r", "a?\r", "", modeTerminal},
		{"word motions and undo", "\x01one two three\x17\x17x\x1f", "", "one ", modeCommand},
		{"undo as xterm sends Ctrl-_", "\x01one two\x17\x1b[27;6;95~", "", "one two", modeCommand},
		{"undo as kitty sends Ctrl-_", "\x01one two\x17\x1b[45:95;6u", "", "one two", modeCommand},
		{"undo without the shifted key", "\x01one two\x17\x1b[45;6u", "", "one two", modeCommand},
		{"undo on a keyboard with another -", "\x01one two\x17\x1b[56:95;6u", "", "one two", modeCommand},
		{"kill to start", "\x01abc\x15d", "", "d", modeCommand},
		{"Ctrl-C deletes all", "\x01abc\nde\x1b[D\x03f", "", "f", modeCommand},
		{"which can be undone", "\x01abc\x03\x1f", "", "abc", modeCommand},
		{"and closes an empty line", "\x01abc\x03\x03x", "x", "", modeTerminal},
		{"left and insert", "\x01ac\x1b[Db\r", "abc\r", "", modeTerminal},
		{"history", "\x01first\r\x01second\r\x01\x1b[A\x1b[A\r", "first\rsecond\rfirst\r", "", modeTerminal},
		{"completion", "\x01/den\t", "", "/deny ", modeCommand},
		{"question no", "\x01/quit\rn", "", "", modeTerminal},
		{"question enter is no", "\x01/quit\r\r", "", "", modeTerminal},
		{"escape and at once the command key", "\x1b\x01ls", "\x1b", "ls", modeCommand},
		{"on the line too", "\x01a\x1b\x01b", "", "ab", modeCommand},
		{"another key with alt is whole", "\x1b\x02", "\x1b\x02", "", modeTerminal},
		{"alt digit without such a tab", "\x1b7", "", "", modeTerminal},
		{"other alt keys are the agent's", "\x1bb", "\x1bb", "", modeTerminal},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newHarness(t, 80, 24, Options{})
			r.keys(test.keys)
			if got := r.queued(1); got != test.queued {
				t.Errorf("the agent got %q, want %q", got, test.queued)
			}
			if got := r.m.line.Text(); got != test.line {
				t.Errorf("the line holds %q, want %q", got, test.line)
			}
			if r.m.mode != test.mode {
				t.Errorf("mode %d, want %d", r.m.mode, test.mode)
			}
			if r.quit {
				t.Error("it quit")
			}
		})
	}
}

// The name of a directory that a completion has put on the line is nobody's typing, whatever
// the line becomes, and a name that could be read as more than a word is not put there.
func TestCompletedNamesAreNotTyped(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"push-it", "evil\u00a0push", "evil\tpush", "evil\u202epush"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/new " + dir + "/e\t")
	r.wants("nothing begins with")
	r.keys("\x7fpu\t")
	r.keys("\x1b[H\x1b[3~\r") // without its slash it is a text for the agent
	inputs := r.broker.inputs
	if len(inputs) != 1 {
		t.Fatalf("sent %+v", inputs)
	}
	text := inputs[0].Text
	at := strings.Index(text, "/push-it/") + len("/pu")
	want := []broker.Span{{Start: 0, End: at}, {Start: at, End: len(text), Pasted: true}}
	if diff := cmp.Diff(want, inputs[0].Spans); diff != "" {
		t.Error(text, diff)
	}
}

func TestTypedAndPastedSpans(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01do \x1b[200~push\r\nto origin\x1b[201~ now\r")
	if len(r.broker.inputs) != 1 {
		t.Fatalf("%d inputs", len(r.broker.inputs))
	}
	want := broker.TrustedInput{
		Session: "s1", Text: "do push\nto origin now",
		Spans: []broker.Span{{Start: 0, End: 3}, {Start: 3, End: 17, Pasted: true}, {Start: 17, End: 21}},
	}
	if diff := cmp.Diff(want, r.broker.inputs[0]); diff != "" {
		t.Error(diff)
	}
}

func TestSpansMoveWithTheFirstCharacter(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01//a\x1b[200~b\x1b[201~\r")
	want := []broker.Span{{Start: 0, End: 2}, {Start: 2, End: 3, Pasted: true}}
	if diff := cmp.Diff(want, r.broker.inputs[0].Spans); diff != "" {
		t.Error(diff)
	}
}

// TestPasteStaysWhereItBegan pastes while the mode changes: all of it goes
// where it began to go.
func TestPasteStaysWhereItBegan(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "\x1b[?2004h")
	piece := func(p keys.Paste) { r.send(inputMsg{keys.Event{Kind: keys.PasteEvent, Paste: p}}) }
	piece(keys.Paste{Start: true, Data: []byte("one ")})
	r.m.enterCommand()
	piece(keys.Paste{Data: []byte("two ")})
	piece(keys.Paste{End: true, Data: []byte("three")})
	if got, want := r.queued(1), "\x1b[200~one two three\x1b[201~"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if got := r.m.line.Text(); got != "" {
		t.Errorf("the line got %q", got)
	}
}

// A paste fills the queue of an agent that reads nothing. The rest is refused with an
// error, and the end marker of the paste is still sent.
func TestPasteIntoAnAgentThatReadsNothing(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "\x1b[?2004h")
	piece := func(p keys.Paste) { r.send(inputMsg{keys.Event{Kind: keys.PasteEvent, Paste: p}}) }
	piece(keys.Paste{Start: true})
	block := []byte(strings.Repeat("x", 32<<10))
	for range 100 {
		piece(keys.Paste{Data: block})
	}
	piece(keys.Paste{End: true})
	got := r.queued(1)
	if len(got) > pane.QueueLimit+pane.QueueReserve {
		t.Errorf("%d bytes wait", len(got))
	}
	if !strings.HasSuffix(got, "\x1b[201~") {
		t.Error("the paste has no end")
	}
	r.wants("takes no input")
}

func TestSlashCommands(t *testing.T) {
	tests := []struct {
		keys string
		want []string // on the screen afterwards
	}{
		{"/tab 9", []string{"no tab 9; open: 1 to 3"}},
		{"/tab x", []string{`no tab is called "x"; open: 1 claude-code, 2 shell, 3 shell`, "> /tab x"}},
		{"/tab", []string{"/tab: takes the number or the name of a tab"}},
		{"/tab cl", []string{"1 ◌ claude-code"}},
		{"/tab Sh", []string{`"Sh" fits several tabs: 2 shell, 3 shell (use the number)`, "> /tab Sh"}},
		{"/close claude", []string{"y/n: end claude-code s1?"}},
		{"/tab 1", []string{"1 ◌ claude-code"}},
		{"/rename build \x1b", []string{"> /rename build"}},
		{"/rename build", []string{"3 ◌ build"}},
		{`/approve x\y`, []string{`/approve x\\y: takes a number`}},
		{"/theme neon", []string{`theme "neon": no such theme; there are: dark, light, 16, none`}},
		{"/approv", []string{"did you mean /approve or /approve+?"}},
		{"/new nobody", []string{"no such agent; there are: claude-code, shell"}},
		{"/new cl", []string{"4 ◌ claude-code"}},
		{"/theme", []string{"/theme: takes one of dark, light, 16, none"}},
		{"/restart", []string{"y/n: end shell s3, and start it again?"}},
		{"/move 9", []string{"takes a place from 1 to 3"}},
		{"/zoom", []string{"this tab is not split (/split shows another tab beside it)"}},
		{"/unsplit", []string{"this tab is not split"}},
		{"/approve+ 3", []string{"#3 does not wait for a decision, and no other call does"}},
		{"/split up", []string{"/split takes right or down, and a tab: no tab is called"}},
		{"/close 8", []string{"no tab 8; open: 1 to 3"}},
		{"/close", []string{"y/n: end shell s3?"}},
		{"/help", []string{"keys and commands"}},
		{"/mute", []string{"bell and notifications of shell s3 are off"}},
	}
	for _, test := range tests {
		t.Run(test.keys, func(t *testing.T) {
			r := newHarness(t, 80, 24, Options{})
			r.keys("\x01/new shell\r\x01/new shell /tmp\r")
			r.keys("\x01" + test.keys + "\r")
			r.wants(test.want...)
		})
	}
}

func TestTabSwitching(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new shell\r\x01/new shell\r")
	for _, step := range []struct {
		keys string
		tab  int
	}{
		{"\x1b1", 1},
		{"\x1b3", 3},
		{"\x01\x1b[C", 1},
		{"\x1b[D", 3},
		{"\x1b[D", 2},
		{"\r", 2},
		{"\x01/next\r", 3},
		{"\x01/prev\r", 2},
		{"\x01/last\r", 3},
		{"\x01/move 1\r", 1},
		{"\x1b1", 1},
		{"\x01/next\r", 2},
	} {
		r.keys(step.keys)
		if got := r.m.place(r.m.current()); got != step.tab {
			t.Errorf("after %q tab %d is shown, want %d", step.keys, got, step.tab)
		}
	}
}

func TestCloseAndQuit(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new shell\r")
	r.keys("\x01/close\ry")
	if len(r.m.tabs) != 1 || len(r.broker.sessions) != 1 {
		t.Errorf("%d tabs, %d sessions", len(r.m.tabs), len(r.broker.sessions))
	}
	r.keys("\x01/quit\r")
	if r.quit {
		t.Fatal("it quit without asking")
	}
	r.keys("y")
	if !r.quit {
		t.Error("it did not quit")
	}
}

func TestQuitNowDoesNotAsk(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/quit!\r")
	if !r.quit {
		t.Error("it did not quit")
	}
}

type hintError struct{ error }

func (hintError) Hint() string { return "start it with: service docker start" }

// When a tab cannot be opened, the screen says why and what to do, and stays usable.
func TestFailureToOpen(t *testing.T) {
	r := bareHarness(t, Options{Agent: "claude-code"})
	r.broker.openErr = hintError{errors.New("open session: connect to Docker: no such file")}
	r.send(sizeMsg{80, 24})
	r.wants("no tab is open", "open session: connect to Docker: no such file (start it with: service docker", "start)")
	r.broker.openErr = nil
	r.keys("\x01/new shell\r")
	r.wants("◌ shell")
}

// A tab whose agent has ended keeps the last screen, says how the agent ended, takes no
// keys, and can be restarted.
func TestDeadTab(t *testing.T) {
	r := newHarness(t, 80, 24, Options{Workspace: "/w"})
	r.agentSays(1, "last words")
	s := r.m.numbered(1).session
	s.State, s.ExitCode, s.Reason = broker.StateDead, 3, "no login"
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.wants("last words", "claude-code ended with exit code 3: no login", "✗ claude-code")
	r.keys("x")
	if got := r.queued(1); got != "" {
		t.Errorf("a dead agent got %q", got)
	}
	r.keys("\x01hello\r")
	r.wants("claude-code has ended (/restart starts it again, /resume continues it", "> hello")
	r.keys("\x15/restart\r")
	if last := r.broker.opened[len(r.broker.opened)-1]; last.Workspace != "/w" || last.Agent != "claude-code" {
		t.Errorf("opened %+v", last)
	}
	if len(r.m.tabs) != 1 || r.m.current().session.ID != "s2" {
		t.Errorf("%d tabs", len(r.m.tabs))
	}
}

// The note how an agent ended is drawn above a message that needs rows of its own.
func TestEndIsSeenWithAMessage(t *testing.T) {
	r := newHarness(t, 60, 24, Options{})
	r.agentSays(1, "last words")
	r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Session: "s1", Urgent: true, Text: strings.Repeat("something that matters ", 5)}}})
	s := r.m.numbered(1).session
	s.State, s.ExitCode, s.Reason = broker.StateDead, 137, "the memory limit was hit and the kernel ended it"
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.wants("last words", "exit code 137: the memory limit was", "hit and the kernel ended it", "claude-code s1: something that matters", "/restart, /resume")
}

// A message is about the last command, and the next command removes it.
func TestMessagesGoWithTheNextCommand(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new nobody\r")
	r.wants("no such agent")
	r.keys("\x15/rename build\r")
	if s := r.screen(); strings.Contains(s, "no such agent") || !strings.Contains(s, "build") {
		t.Errorf("the screen shows\n%s", s)
	}
}

// An agent that was added to config.json meanwhile is known on the command line that is opened next.
func TestAgentsOfAChangedConfigAreKnown(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new mine\r")
	r.wants("no such agent")
	r.broker.mu.Lock()
	r.broker.ownAgents = []broker.Agent{{Name: "mine", Title: "My agent"}}
	r.broker.mu.Unlock()
	r.keys("\x15\x1b\x01/new mine\r")
	if last := r.broker.opened[len(r.broker.opened)-1]; last.Agent != "mine" {
		t.Errorf("opened %+v", last)
	}
}

// In the status line hints take precedence over the usage. Notices are shown on a small
// screen too, if only their beginning.
func TestStatusLineIsShared(t *testing.T) {
	for _, test := range []struct {
		cols   int
		notice string
		want   []string
		spent  bool
	}{
		{80, "scripted model, not an AI", []string{"Ctrl-A shows what waits for you", "scripted model, not an AI", "1 waiting"}, false},
		{110, "scripted model, not an AI", []string{"Ctrl-A shows what waits for you", "scripted model, not an AI", "1 waiting"}, true},
		{40, "unprotected: a shell of this machine", []string{"Ctrl-A", "unprotected", "1 waiting"}, false},
	} {
		r := newHarness(t, test.cols, 24, Options{Notices: []string{test.notice}, NoStrip: true})
		one := broker.Budget{Session: "s1", Used: broker.Usage{Requests: 12, In: 34_900, CostUSD: 0.11}}
		r.send(brokerMsg{broker.Event{Budget: &one}})
		r.escalate(1, `{"path":"/tmp/b"}`, "")
		r.wants(test.want...)
		if got := strings.Contains(r.screen(), "$0.11"); got != test.spent {
			t.Errorf("%d columns: the usage is shown: %v", test.cols, got)
		}
	}
}

// TestKeysFollowThePane encodes for the modes of the pane that has the focus.
func TestKeysFollowThePane(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x1b[A")
	r.agentSays(1, "\x1b[?1h")
	r.keys("\x1b[A")
	if got, want := r.queued(1), "\x1b[A\x1bOA"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

func TestFocusEvents(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "\x1b[?1004h")
	r.keys("\x1b[O\x1b[I")
	r.keys("\x01/new shell\r")
	r.keys("\x1b1")
	if got, want := r.queued(1), "\x1b[O\x1b[I\x1b[O\x1b[I"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestHelpNamesEverything compares the help screen with the tables of keys and commands.
func TestHelpNamesEverything(t *testing.T) {
	r := newHarness(t, 200, 50, Options{Prefix: "ctrl+b"})
	var all strings.Builder
	for _, l := range r.m.helpText() {
		all.WriteString(l.Key + " " + l.Text + "\n")
	}
	for _, c := range commandTable() {
		if !strings.Contains(all.String(), "/"+c.name) {
			t.Errorf("/%s is not in the help", c.name)
		}
	}
	for _, b := range r.m.keys.Bindings() {
		if !strings.Contains(all.String(), b.Help().Desc) {
			t.Errorf("%q is not in the help", b.Help().Desc)
		}
	}
}

// TestPrefix walks through the tmux-like keys, which exist only when asked for.
func TestPrefix(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x02c")
	if got := r.queued(1); got != "\x02c" {
		t.Errorf("without a prefix the agent got %q", got)
	}
	r = newHarness(t, 80, 24, Options{Prefix: "ctrl+b"})
	r.keys("\x02c\x02c\x021")
	if n, tab := len(r.m.tabs), r.m.place(r.m.current()); n != 3 || tab != 1 {
		t.Errorf("%d tabs, tab %d is shown", n, tab)
	}
	r.keys("\x02\x02\x02~x")
	if got := r.queued(1); got != "\x02x" {
		t.Errorf("the agent got %q", got)
	}
	r.keys("\x02%")
	r.wants("│")
	r.keys("\x02[")
	if r.m.mode != modeCopy {
		t.Error("no copy mode")
	}
	r.keys("q\x02x")
	r.wants("y/n: end")
}

// TestReleasesFollowTheirPress keeps the release of a key from an agent that
// was not given its press.
func TestReleasesFollowTheirPress(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "\x1b[>11u") // all keys as escape codes, with releases
	r.keys("\x1b[97;5u\x1b[97;5:3u\x1b[13u\x1b[13;1:3u\x1b[98u\x1b[98;1:3u")
	if got, want := r.queued(1), "\x1b[98u\x1b[98;1:3u"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// TestReferenceIsComplete compares the generated reference with the tables of keys and
// commands.
func TestReferenceIsComplete(t *testing.T) {
	text, err := Reference("", "ctrl+b", map[string][]string{"copy.page-up": {"U"}, "prefix.zoom": {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| Ctrl-A |", "| `/approve [N\\|all]` |", "## In copy mode", "## After the prefix key", "| ← |", "| U | a page up | `copy.page-up` |", "|  | show the focused pane alone, or all again | `prefix.zoom` |", "| ⊘ |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// Every mark that a tab can have is explained in the help.
func TestMarksAreExplained(t *testing.T) {
	r := newHarness(t, 80, 60, Options{})
	r.keys("\x01?")
	r.m.help.GotoBottom()
	r.m.dirty = true
	r.m.refresh()
	x := r.m.numbered(1)
	for _, state := range []broker.SessionState{
		broker.StateStarting, broker.StateIdle, broker.StateWorking, broker.StateWaiting, broker.StateDead, broker.StateClosed, "",
	} {
		for _, done := range []bool{false, true} {
			x.session.State, x.done = state, done
			mark, _, _ := x.mark()
			r.wants("\n " + mark + "  ")
		}
	}
}

// The fast path takes no key that the event loop would handle itself.
func TestFastPathLeavesTheMultiplexersKeys(t *testing.T) {
	r := newHarness(t, 80, 24, Options{Prefix: "ctrl+b", Keys: map[string][]string{"agent.next": {"ctrl+pgdown"}}})
	r.keys("a")
	for _, bytes := range []string{"\x01", "\x02", "\x1b1", "\x1b\x01", "\x1b\x02", "\x1b[6;5~"} {
		for _, ev := range append(r.decoder.Feed([]byte(bytes)), r.decoder.Flush()...) {
			if r.m.takeFastPath(ev) {
				t.Errorf("%q goes straight to the agent", bytes)
			}
		}
	}
}
