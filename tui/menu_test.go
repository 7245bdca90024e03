package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Typing / opens a menu of the commands, which what is typed filters by names and help. Text for
// the agent has none.
func TestCommandMenu(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	has := func(typed string, want bool, parts ...string) {
		t.Helper()
		r.keys("\x15" + typed)
		for _, part := range parts {
			if strings.Contains(r.screen(), part) != want {
				t.Errorf("%q: %q on the screen: %v\n%s", typed, part, !want, r.screen())
			}
		}
	}
	r.keys("\x01")
	has("/", true, "/approve [N|all]", " more")
	has("/re", true, "/restart", "start this tab's agent again", "/resume", "/rename", "/revoke")
	has("/split", true, "/split [right|down] [N]", "/unsplit")
	has("/clipboard", true, "allow the copy to the clipboard")
	has("/toolchain", true, "/yes", "accept the toolchains")
	has("/xyzzy", false, "/approve", " more")
	has("/tab 1", false, "show that tab")
	has("//split", false, "show each tab of this group")
	has("/diff", true, "what has changed")
}

// The arguments of a command come from the same menu, each with a line about it.
func TestArgumentsMenu(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"docs", "data", ".hidden"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"draft.txt", "two words"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		typed string
		line  string // after Tab
		shows []string
		not   []string
	}{
		{typed: "/new ", shows: []string{"claude-code", "shell", "--workspace", "the directory that its agent works in"}},
		{typed: "/new sh\t", line: "/new shell "},
		{typed: "/new shell --workt\t", line: "/new shell --worktree ", not: []string{"Claude Code"}},
		{typed: "/new shell --workspace d", shows: []string{"data/", "docs/", "directory"}, not: []string{"draft.txt", ".hidden"}},
		{typed: "/new --workspace da\t", line: "/new --workspace data/"},
		{typed: "/new --workspace .h\t", line: "/new --workspace .hidden/"},
		{typed: "/new -- d\t", line: "/new -- d"},
		{typed: "/attach d", shows: []string{"data/", "docs/", "draft.txt", "file"}},
		{typed: "/attach dr\t", line: "/attach draft.txt "},
		{typed: "/attach tw\t", line: `/attach two\ words `},
		{typed: `/attach two\ w` + "\t", line: `/attach two\ words `},
		{typed: "/new --workspace tw\t", not: []string{"two words"}},
		{typed: "/tab ", shows: []string{"1  claude-code", "this one"}},
		{typed: "/tab cla\t", line: "/tab claude-code "},
		{typed: "/resume ", shows: []string{"aaaaaaaa", "bbbbbbbb", "ago"}},
		{typed: "/split r\t", line: "/split right "},
		{typed: "/theme l\t", line: "/theme light "},
		{typed: "/policy re\t", line: "/policy reload "},
		{typed: "/pan ", shows: []string{"left", "right", "up", "down"}},
		{typed: "/servers re\t", line: "/servers restart "},
		{typed: "/help split", shows: []string{"/split", "/unsplit"}},
		{typed: "/help pan\t", line: "/help panel "},
		{typed: "/rename cl", not: []string{"this one"}},
	} {
		t.Run(test.typed, func(t *testing.T) {
			r := newHarness(t, 100, 24, Options{Dir: dir})
			r.broker.stored = storedSessions()
			r.keys("\x01" + test.typed)
			if got := r.m.line.Text(); test.line != "" && got != test.line {
				t.Errorf("the line holds %q, want %q", got, test.line)
			}
			r.wants(test.shows...)
			for _, part := range test.not {
				if strings.Contains(r.screen(), part) {
					t.Errorf("%q is on the screen\n%s", part, r.screen())
				}
			}
		})
	}
}

// Down and up choose in the menu, Enter puts the choice on the line and runs nothing, and what is
// typed in full runs at once. A line of the history has no menu, so that up goes on through the
// history.
func TestChoosingInTheMenu(t *testing.T) {
	const up, down = "\x1b[A", "\x1b[B"
	for _, test := range []struct{ name, keys, line string }{
		{"down and enter", "/the" + down + "\r", "/theme "},
		{"down twice", "/theme " + down + down + "\r", "/theme light "},
		{"up is the last", "/theme " + up + "\r", "/theme none "},
		{"round", "/theme " + up + down + "\r", "/theme dark "},
		{"tab chooses, and takes", "/theme \t\t", "/theme dark "},
		{"tab goes as far as it is clear", "/res\tx", "/resx"},
		{"and then chooses", "/res\t\t\t", "/resume "},
		{"another key drops the choice", "/theme" + down + " \x7f\r", "/theme"},
		{"typed in full", "/theme light\r", ""},
		{"history", "/theme light\r\x01/mute\r\x01" + up + up, "/theme light"},
		{"and forward", "/theme light\r\x01/mute\r\x01" + up + up + down, "/mute"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newHarness(t, 100, 24, Options{})
			r.keys("\x01" + test.keys)
			if got := r.m.line.Text(); got != test.line {
				t.Errorf("the line holds %q, want %q\n%s", got, test.line, r.screen())
			}
		})
	}
}

// While a call waits the menu has only the room that the panel leaves: it takes no row of the call.
// Taking a call from the menu decides nothing, and Enter then decides only what the panel has
// shown.
func TestMenuBesideACall(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	e := r.escalate(1, `{"path":"/tmp/b"}`, "")
	r.keys("\x01")
	r.paint()
	before, _ := r.m.panelRect()
	r.keys("/approve ")
	r.wants("1    filesystem/write_file", "all  all calls that were shown in full")
	if now, _ := r.m.panelRect(); now != before {
		t.Errorf("the panel is at %+v with the menu, and at %+v without it", now, before)
	}
	r.keys("1\t")
	if got := r.m.line.Text(); got != "/approve 1 " || len(r.broker.decided) != 0 {
		t.Errorf("the line holds %q, decided: %v", got, r.broker.decided)
	}
	r.keys("\r")
	if len(r.broker.decided) != 1 || r.broker.decided[0].ID != e.ID {
		t.Errorf("decided: %v", r.broker.decided)
	}

	unseen := newHarness(t, 100, 24, Options{})
	unseen.escalate(1, `{"path":"/tmp/b"}`, "")
	unseen.keys("\x01/approve 1\t\r")
	unseen.wants("#1 has not been on the screen yet")
	if len(unseen.broker.decided) != 0 {
		t.Errorf("decided: %v", unseen.broker.decided)
	}

	small := newHarness(t, 60, 8, Options{})
	small.escalate(1, `{"path":"/tmp/b","content":"`+strings.Repeat("line\\n", 40)+`"}`, "")
	small.keys("\x01/approve ")
	if at := small.m.menuRect(); at.H != 0 {
		t.Errorf("the menu has taken %+v from the panel", at)
	}
	small.keys("\t")
	small.wants("1 all")
}

// What is looked for is shown when it is there, unless something else is typed by then.
func TestLateAnswerToTheMenu(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.broker.stored = []broker.StoredSession{}
	r.keys("\x01/resume ")
	source := r.m.menuState.source
	r.keys("\x15/theme ")
	r.send(foundMsg{source: source, found: nil})
	r.wants("dark", "for a dark terminal")
}

func TestSuggestions(t *testing.T) {
	r := newHarness(t, 180, 24, Options{})
	r.broker.stored = storedSessions()
	for line, want := range map[string]string{
		"/cloes":           "no such command; did you mean /close?",
		"/theme lihgt":     "did you mean light?",
		"/tab claud-code":  "did you mean claude-code?",
		"/new shlel":       "did you mean shell?",
		"/new --worktre":   "did you mean --worktree?",
		"/policy relaod":   "did you mean reload?",
		"/servers restrat": "did you mean restart?",
		"/resume aaab":     "did you mean aaaa?",
		"/help spilt":      "did you mean /split?",
		"/xyzzy":           "/help lists them",
	} {
		r.keys("\x01\x15" + line + "\r")
		if s := r.screen(); !strings.Contains(s, want) {
			t.Errorf("%s: %q is not on the screen\n%s", line, want, s)
		}
		r.keys("\x1b")
	}
}

// Ctrl-R searches the history of the command line.
func TestHistorySearch(t *testing.T) {
	const lines = "\x01first order\r\x01second order\r\x01/mute\r\x01third\r"
	for _, test := range []struct{ name, keys, line, shows string }{
		{"the newest match", "\x12ord", "second order", "search ord: second order"},
		{"an older one", "\x12ord\x12", "first order", "search ord: first order"},
		{"no further one", "\x12ord\x12\x12", "first order", "not found ord: first order"},
		{"and back", "\x12ord\x12\x13", "second order", ""},
		{"more of the query", "\x12ord\x12\x7f\x7f\x7fthi", "third", "search thi: third"},
		{"escape restores", "draft\x12ord\x1b", "draft", "> draft"},
		{"ctrl-g too", "draft\x12ord\x07", "draft", "> draft"},
		{"tab takes it", "\x12ord\tX", "second orderX", ""},
		{"right takes it", "\x12ord\x1b[CX", "second orderX", ""},
		{"another editing key as well", "\x12ord\x1b[HX", "Xsecond order", ""},
		{"undo leads back", "draft\x12ord\t\x1f", "draft", ""},
		{"enter runs it", "\x12mute\r", "", "are on again"},
		{"not found", "\x12zzz", "", "not found zzz:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newHarness(t, 80, 24, Options{})
			r.keys(lines + "\x01" + test.keys)
			if got := r.m.line.Text(); got != test.line {
				t.Errorf("the line holds %q, want %q", got, test.line)
			}
			r.wants(test.shows)
		})
	}
	r := newHarness(t, 80, 24, Options{})
	r.keys(lines + "\x01\x12order\r")
	if n := len(r.broker.inputs); n != 4 || r.broker.inputs[3].Text != "second order" {
		t.Errorf("sent %+v", r.broker.inputs)
	}
}

// / searches in the help; n and N go on, and Esc ends the search before it closes the help.
func TestHelpSearch(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01?/scrollback")
	r.wants("/ scrollback", "match 1 of ")
	r.keys("\rn")
	r.wants("match 2 of ", "n N next, before", "Esc ends the search")
	r.keys("NN")
	first := r.m.help.Found(r.m.listRect())
	if !strings.HasPrefix(first, "match ") || strings.HasPrefix(first, "match 1 ") {
		t.Errorf("before the first match comes the last one, not %q", first)
	}
	r.keys("\x1b")
	if r.m.mode != modeHelp || r.m.help.Query() != "" {
		t.Errorf("mode %d, still looking for %q", r.m.mode, r.m.help.Query())
	}
	r.keys("/zzzz")
	r.wants("no match")
	r.keys("\x1b")
	r.keys("\x1b")
	if r.m.mode != modeTerminal {
		t.Errorf("mode %d", r.m.mode)
	}
	r.keys("\x01/help copy\r")
	r.wants("in copy mode", "next word")
	r.keys("q\x01/help /rename\r")
	r.wants("give this tab a name")
}

// What was listed of one tab's workspace is not proposed for another one, and whoever names a file
// there draws nothing but its name.
func TestFilesOfAWorkspaceAreListed(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(one, "secret-plan.txt"), filepath.Join(other, "notes.txt"),
		filepath.Join(other, "a"+strings.Repeat("\u0301", 60)+".txt"), filepath.Join(other, "\u05d0\u05d1.txt"),
		filepath.Join(other, "x\x1b[2J"), filepath.Join(other, "x\n y approves"), filepath.Join(other, strings.Repeat("w", 255)),
	} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/new shell\r")
	r.m.tabs[0].session.Workspace, r.m.tabs[1].session.Workspace = one, other
	r.keys("\x1b1\x01/save ")
	r.wants("secret-plan.txt")
	r.keys("\x1b2")
	screen := r.screen()
	if strings.Contains(screen, "secret-plan.txt") || !strings.Contains(screen, "notes.txt") {
		t.Fatalf("the other tab's files:\n%s", screen)
	}
	for _, c := range screen {
		if c < ' ' && c != '\n' || strings.ContainsRune("\u0301\u05d0\u05d1", c) {
			t.Fatalf("%U is drawn:\n%s", c, screen)
		}
	}
	if strings.Contains(screen, "y approves") {
		t.Errorf("a line break is listed:\n%s", screen)
	}
}
