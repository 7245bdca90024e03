package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// maxProgress is how many lines of a starting session are kept.
const maxProgress = 200

// tab is one session as the multiplexer shows it.
type tab struct {
	since      time.Time // when the tab was made
	session    broker.Session
	receipt    broker.Receipt // for the person's last text to the agent
	pane       *pane.View
	progress   []broker.Progress
	attached   bool // the agent's terminal was reached at least once
	attachedAt time.Time
	budget     broker.Budget
	moving     broker.Moving
	reported   string          // the state that the agent reports, in our words; only a hint
	usedAt     time.Time       // when the person last gave its program a key, a click or a text
	held       *heldCopy       // the copy to the clipboard that waits for permission; nil: none
	trouble    string          // why the terminal could not be reached, or was lost
	done       bool            // the agent finished and the person has not looked since
	changes    int             // counts the changes of the session's state
	agentTitle string          // the title that the agent set, safe to draw
	offered    map[string]bool // the pasted paths for which /attach was offered
	muted      bool
	scrolled   bool // the view does not follow the output
	crop       view.Crop
	top        int    // the line in the first row of the view, when scrolled
	dropped    uint64 // Screen.Dropped when top was set
	focused    int    // Model.focuses when it got the focus last
	unseen     bool   // something happened here that the person has not looked at
}

// title returns the name that the person gave the tab, or else the agent's name.
func (t *tab) title() string {
	return cmp.Or(t.session.Name, t.session.Agent)
}

// name returns the tab's title and the short id of its session: a message uses it instead of the
// tab's number, which may change while the message is read.
func (t *tab) name() string {
	return text.Drawable(t.title()) + " " + t.shortID()
}

// shortID returns the short id of the tab's session.
func (t *tab) shortID() string { return broker.ShortID(t.session.ID) }

// running reports whether the agent has not ended yet.
func (t *tab) running() bool {
	return t.session.State != broker.StateDead && t.session.State != broker.StateClosed
}

// blank reports whether the agent is starting and has shown no text yet.
func (t *tab) blank() bool {
	return t.attached && t.session.State == broker.StateStarting && t.pane.Silent()
}

// dead reports whether the agent has ended.
func (t *tab) dead() bool { return !t.running() }

// mark returns the state of a session as one character and as words, and whether it waits
// for the person.
func (t *tab) mark() (mark string, word string, urgent bool) {
	if t.session.Trouble != "" && t.running() && t.session.State != broker.StateWaiting {
		return view.MarkLost, "out of reach", false
	}
	switch t.session.State {
	case broker.StateStarting:
		return view.MarkStarting, "starting", false
	case broker.StateIdle:
		if t.runsCommand() {
			return view.MarkWorking, "working", false
		}
		if t.done {
			return view.MarkDone, "done", false
		}
		return view.MarkIdle, "idle", false
	case broker.StateWorking:
		return view.MarkWorking, "working", false
	case broker.StateWaiting:
		return view.MarkWaiting, "waiting for you", true
	case broker.StateDead, broker.StateClosed:
		return view.MarkEnded, "ended", false
	case broker.StateUnknown:
		return view.MarkLost, "out of reach", false
	}
	return view.MarkLost, string(t.session.State), false
}

// runsCommand reports whether the tab is a shell that reports that it runs a command. Such a report
// by an agent does not count.
func (t *tab) runsCommand() bool {
	return (t.session.Agent == "shell" || t.session.Agent == "local-shell") && t.pane.Commands()
}

// endText says in one line how the agent ended, or why it was not started. It adds the exit code
// unless the reason says how the agent ended, such as "ended by signal 15".
func (t *tab) endText() string {
	reason := text.Drawable(t.session.Reason)
	if strings.HasPrefix(reason, "ended ") {
		return t.session.Agent + " " + reason
	}
	if n := len(t.progress); n > 0 && t.progress[n-1].Failed && reason != "" {
		return t.session.Agent + " was not started: " + reason // the exit code is not a program's
	}
	line := fmt.Sprintf("%s ended with exit code %d", t.session.Agent, t.session.ExitCode)
	if reason != "" {
		line += ": " + reason
	}
	return line
}

// progressed notes the progress of a step of starting. It replaces the former progress of the step.
func (t *tab) progressed(p broker.Progress) {
	for i := len(t.progress) - 1; i >= 0; i-- {
		if t.progress[i].Step == p.Step {
			t.progress[i] = p
			return
		}
	}
	t.progress = append(t.progress, p)
	if len(t.progress) > maxProgress {
		t.progress = t.progress[1:]
	}
}

// topLine returns the line in the first row of a pane.
func (t *tab) topLine(at view.Rect) int {
	if t.scrolled {
		return max(0, t.top-copymode.DroppedSince(t.pane.Screen, t.dropped))
	}
	_, rows := t.pane.Screen.Size()
	_, y := t.origin(at)
	return max(0, t.pane.Screen.LineCount()-rows+y)
}

// newest returns the line in the first row of a pane that shows the newest lines.
func (t *tab) newest(at view.Rect) int { return max(0, t.pane.Screen.LineCount()-t.part(at).H) }

// scrollTo puts a line into the first row of a pane.
func (t *tab) scrollTo(top int, at view.Rect) {
	newest := t.newest(at)
	if !t.scrolled {
		t.crop.X, _ = t.origin(at)
	}
	t.top = min(max(0, top), newest)
	t.dropped = t.pane.Screen.Dropped()
	t.scrolled = t.top < newest
}

// linesBack returns how many lines a pane is scrolled back from the newest output.
func (t *tab) linesBack(at view.Rect) int { return max(0, t.newest(at)-t.topLine(at)) }

// reportWords are the states that a program can report with OSC 7501, and our words for them. A
// program may report anything, so the screen shows the report as the program's own, next to what
// the broker knows, and no decision depends on it. The message in a report is not shown.
var reportWords = map[string]string{
	"working": "working",
	"blocked": "waiting for you",
	"error":   "in trouble",
}

// readReport returns our words for the state in a report such as
// "state=blocked:app=codex:kind=…"; empty for a state that is idle or not known.
func readReport(text string) string {
	for field := range strings.SplitSeq(text, ":") {
		if state, ok := strings.CutPrefix(field, "state="); ok {
			return reportWords[state]
		}
	}
	return ""
}

// stateWords returns the words for the session's state as the broker knows it and, when the agent
// reports another state, for that, too. For the broker, an agent is starting until it has asked for
// its tools, even when it draws already.
func (t *tab) stateWords() string {
	_, word, _ := t.mark()
	if t.attached && t.session.State == broker.StateStarting && !t.blank() {
		word = "connecting tools"
		if t.pane.First() != nil {
			word += ", then prompt"
		}
	}
	if t.reported == "" || t.reported == word || !t.running() {
		return word
	}
	return word + ", it says " + t.reported
}
