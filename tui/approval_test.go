package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// look lets the person see what the panel shows now, for long enough to decide it.
func (r *harness) look() { r.paint() }

func (r *harness) decided(want int) {
	r.t.Helper()
	if n := len(r.broker.decisions()); n != want {
		r.t.Fatalf("%d decisions, want %d\n%s", n, want, r.screen())
	}
}

func TestApproveShown(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := r.escalate(3, `{"path":"/tmp/b"}`, "")
	r.keys("\x01")
	r.look()
	r.keys("/approve\r")
	r.decided(1)
	d := r.broker.decisions()[0]
	if d.ID != e.ID || d.Digest != e.Digest || !d.Approve || d.By != "tui" || d.Client != r.m.o.Client {
		t.Errorf("decision %+v", d)
	}
	if r.m.mode != modeTerminal {
		t.Error("the keyboard did not return to the agent")
	}
	r.wants("#3 approved by you")
}

// A person who opens the panel in a tab with waiting calls sees one of these, the last one
// shown or the oldest. In any other tab the panel shows the call that was shown before, or
// the oldest.
func TestThePanelShowsTheCallOfTheTab(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.keys("\x01/new shell\r\x01/new shell\r")
	for n, session := range map[int]broker.SessionID{1: "s1", 2: "s2", 3: "s2"} {
		e := escalation(n, `{}`, "")
		e.Session = session
		r.send(brokerMsg{msgOf(e)})
	}
	for _, step := range []struct {
		keys []string
		want string
	}{
		{[]string{"\x01"}, "approval 1/3"},                  // tab 3 has none: the oldest
		{[]string{"\x1b", "\x1b2", "\x01"}, "approval 2/3"}, // the oldest of the tab
		{[]string{"\t", "\t"}, "approval 3/3"},
		{[]string{"\x1b", "\x01"}, "approval 3/3"}, // which was chosen
		{[]string{"\x1b", "\x1b3", "\x01"}, "approval 3/3"},
		{[]string{"\x1b", "\x1b1", "\x01"}, "approval 1/3"},
	} {
		for _, k := range step.keys {
			r.keys(k)
		}
		r.wants(step.want)
	}
}

func TestDenyWithReason(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.keys("\x01")
	r.look()
	r.keys("/deny not  this file\r")
	r.decided(1)
	if d := r.broker.decisions()[0]; d.Approve || d.Reason != "not  this file" {
		t.Errorf("decision %+v", d)
	}
	r.wants("#1 denied by you")
}

func TestNotBeforeItWasPainted(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.keys("\x01")
	r.now = r.now.Add(time.Hour) // the terminal has shown nothing in all that time
	r.keys("/approve\r")
	r.decided(0)
	r.wants("#1 has not been on the screen yet", "> /approve")
	r.look()
	r.keys("\r")
	r.decided(1)
}

func TestNotWithinTheFirstMoment(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.keys("\x01")
	r.send(paintedMsg{r.scene.Seq, r.now})
	r.now = r.now.Add(panel.MinAge - time.Millisecond)
	r.keys("/approve\r")
	r.decided(0)
	r.now = r.now.Add(time.Millisecond)
	r.keys("\r")
	r.decided(1)
}

func TestNotBeforeAllOfItWasSeen(t *testing.T) {
	r := newHarness(t, 40, 10, demo())
	r.escalate(1, `{"content":"`+strings.Repeat(`line\n`, 40)+`"}`, "")
	r.keys("\x01")
	r.look()
	r.wants("↓")
	r.keys("/approve\r")
	r.decided(0)
	r.wants("not shown yet")
	for range 20 {
		r.keys("\x1b[6~") // PgDn works with a command on the line
		r.look()
	}
	r.keys("\r")
	r.decided(1)
}

func TestScrollingTooFastIsNotSeeing(t *testing.T) {
	r := newHarness(t, 40, 10, demo())
	r.escalate(1, `{"content":"`+strings.Repeat(`line\n`, 40)+`"}`, "")
	r.keys("\x01")
	r.look()
	for range 20 {
		r.keys("\x1b[6~") // the terminal paints only the last of these
	}
	r.look()
	r.keys("/approve\r")
	r.decided(0)
}

func TestShownCallMayNotChangeUnderTheFingers(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{"path":"/tmp/a"}`, "")
	r.escalate(2, `{"path":"/etc/shadow"}`, "")
	r.keys("\x01")
	r.look()
	r.keys("/appro")
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Expired}}})
	r.look()
	r.look()
	r.keys("ve\r")
	r.decided(0)
	r.wants("the call shown changed")
	r.keys("\r")
	r.decided(1)
}

func TestNumberNeedsToHaveBeenSeen(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{"path":"/tmp/a"}`, "")
	r.escalate(2, `{"path":"/etc/shadow"}`, "")
	r.keys("\x01")
	r.look()
	r.keys("/approve 2\r")
	r.decided(0)
	r.wants(`path: "/etc/shadow"`) // it is shown now, and not decided
	r.look()
	r.keys("\r")
	r.decided(1)
	if d := r.broker.decisions()[0]; d.ID != "e2" {
		t.Errorf("decided %s", d.ID)
	}
}

func TestAllMeansAllSeen(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	for n := 1; n <= 3; n++ {
		r.escalate(n, `{"path":"/tmp/a"}`, "")
	}
	r.keys("\x01")
	r.look()
	r.keys("\t\t")
	r.look()
	r.keys("/approve all\r")
	r.decided(2)
	if r.m.approvals.Numbered(3) == nil {
		t.Error("a call that was not seen was decided")
	}
	r.wants("#1 #2 approved by", "; 1 not shown in full yet")
}

// A call that slips into the place of the one shown, or into an empty panel, while the line
// is typed is not among all before the person has said so again.
func TestAllMeansNoneThatSlippedIn(t *testing.T) {
	for name, first := range map[string]bool{"in its place": true, "where nothing was": false} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, 80, 24, demo())
			if first {
				r.escalate(1, `{"path":"/tmp/a"}`, "")
				r.escalate(2, `{"path":"/etc/shadow"}`, "")
			}
			r.keys("\x01")
			r.look()
			r.keys("/approve a")
			if first {
				r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Withdrawn}}})
			} else {
				r.escalate(2, `{"path":"/etc/shadow"}`, "")
			}
			r.look()
			r.look()
			r.keys("ll\r")
			r.decided(0)
			r.wants("the call shown changed while you typed, it is #2 now")
			r.keys("\r")
			r.decided(1)
		})
	}
}

func TestUnknownNumber(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.keys("\x01/approve 7\r")
	r.decided(0)
	r.wants("no call #7 waits; these wait: #1", "> /approve 7")
}

func TestNothingWaits(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.keys("\x01/approve\r")
	r.wants("nothing waits for a decision")
	r.escalate(1, `{}`, "")
	if s := r.screen(); strings.Contains(s, "nothing waits") {
		t.Errorf("a call waits:\n%s", s)
	}
}

func TestEscalationNeverTakesTheKeyboard(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	if r.m.mode != modeTerminal {
		t.Fatal("an escalation changed the mode")
	}
	r.wants("1 waiting")
	if r.requests != 1 {
		t.Errorf("%d bells", r.requests)
	}
	r.keys("a")
	if got := r.queued(1); got != "a" {
		t.Errorf("the agent got %q", got)
	}
}

func TestBellAtMostOnceASecond(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	for n := 1; n <= 50; n++ {
		r.escalate(n, `{}`, "")
		r.now = r.now.Add(50 * time.Millisecond)
	}
	if r.requests < 2 || r.requests > 4 {
		t.Errorf("%d bells in 2.5 seconds", r.requests)
	}
}

func TestSomebodyElseWasFirst(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Denied, By: "cli", At: testTime}}})
	r.wants("#1 denied by cli")
	r.escalate(2, `{}`, "")
	other := broker.Client{ID: "2", Name: "box", Terminal: "/dev/pts/3"}
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e2", Number: 2, Outcome: broker.Approved, By: "tui", Client: other, At: testTime}}})
	r.wants("#2 approved by box at pts/3")
	if len(r.m.approvals.Items) != 0 {
		t.Error("a call that was decided elsewhere still waits")
	}
	r.keys("\x01/history\r")
	r.wants("decisions, newest first", "#1 denied by cli")
}

func TestDifferencesFromWhatTheAgentWrote(t *testing.T) {
	e := escalation(1, `{"path":"/w/a","n":1}`, `{"path":"a","n":1,"x":true}`)
	b := panel.LayBody(e, 60)
	var text strings.Builder
	for _, row := range b.Rows {
		text.WriteString(row.Label + row.Text + "\n")
	}
	for _, want := range []string{"path: \"/w/a\"\n  the agent wrote: \"a\"\nn: 1\n", "left out: x: true\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("missing %q in:\n%s", want, text.String())
		}
	}
}

// What a program wrote on the line that makes a call is one row behind a label of ours, whatever
// it is and however narrow the panel.
func TestTheLineOfAProgramIsMarked(t *testing.T) {
	e := escalation(1, `{"path":"/w/a"}`, "")
	e.Program = &broker.ProgramCall{ID: "769679a9", Index: 14, Line: 9, Source: "x(); // \x1b[2J\nrule: fs-allow\u202e why: " + strings.Repeat("harmless ", 9)}
	for _, width := range []int{20, 40, 60, 200} {
		var text strings.Builder
		for _, row := range panel.LayBody(e, width).Rows {
			text.WriteString(row.Label + row.Text + "\n")
			if strings.HasPrefix(row.Label+row.Text, "rule: ") && !strings.Contains(row.Label+row.Text, "outside") {
				t.Errorf("a row of the program's: %s", row.Text)
			}
			if view.TextWidth(row.Label+row.Text) > width {
				t.Errorf("a row is wider than %d: %q", width, row.Label+row.Text)
			}
		}
		if width >= 60 && (!strings.Contains(text.String(), "from: call 14 of program 769679a9, line 9\n  it wrote: x(); // \\e[2J\\nrule: ") ||
			strings.Count(text.String(), "\n") != 8) {
			t.Errorf("width %d:\n%s", width, text.String())
		}
	}
	e.Program.Line = 0
	for _, row := range panel.LayBody(e, 60).Rows {
		if strings.Contains(row.Label+row.Text, "line") || strings.Contains(row.Label, "wrote") {
			t.Errorf("a line that is not known: %+v", row)
		}
	}
}

func TestBrokenArgumentsAreShownAsTheyAre(t *testing.T) {
	e := escalation(1, "{\"a\":\x1b[2J", "")
	b := panel.LayBody(e, 60)
	found := false
	for _, row := range b.Rows {
		found = found || strings.Contains(row.Text, `{"a":\e[2J`)
	}
	if !found {
		t.Errorf("rows: %+v", b.Rows)
	}
}

// TestSmallestScreen decides on the smallest screen there is, page by page.
func TestSmallestScreen(t *testing.T) {
	r := newHarness(t, view.MinCols, view.MinRows, demo())
	r.escalate(1, `{"path":"/tmp/b"}`, "")
	r.keys("\x01")
	for range 30 {
		r.look()
		r.keys("\x1b[6~")
	}
	r.keys("/approve\r")
	r.decided(1)
}

// A question is dropped when the screen becomes too small to show it.
func TestAQuestionGoesWithTheScreen(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.keys("\x01/quit\r")
	r.send(sizeMsg{10, 3})
	r.keys("y")
	if r.quit {
		t.Error("a question nobody could see was answered")
	}
}

// A short look at the panel does not count, however long ago it was. When the panel is
// hidden, or the program continues after it was stopped, every call has to be looked at
// again.
func TestAGlanceIsNoLook(t *testing.T) {
	for _, command := range []string{"/approve\r", "/approve 1\r", "/approve all\r", "/deny 1\r"} {
		r := newHarness(t, 80, 24, demo())
		r.escalate(1, `{"path":"/tmp/a"}`, "")
		r.keys("\x01")
		r.send(paintedMsg{r.scene.Seq, r.now})
		r.now = r.now.Add(60 * time.Millisecond)
		r.keys("\x1b")
		r.now = r.now.Add(time.Second / 2)
		r.keys("\x01" + command)
		r.decided(0)
		r.look()
		r.send(continuedMsg{})
		r.keys("\r")
		r.decided(0)
		r.look()
		r.keys("\r")
		r.decided(1)
	}
}
