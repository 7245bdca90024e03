package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// ID returns the session's id.
func (s *Session) ID() stored.ID { return s.fixed.ID }

// ShortID returns the session's id as people read it.
func (s *Session) ShortID() string { return stored.ShortID(s.fixed.ID) }

// NoTerminal reports whether the session has no tab in any view.
func (s *Session) NoTerminal() bool { return s.fixed.NoTerminal }

// Inherit gives the session the name of another one. The caller announces the change.
func (s *Session) Inherit(from *Session) {
	name := from.Info().Name
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// Rename gives the session's tab a name, which all views show and a resumed session keeps; empty: no
// name.
func (s *Session) Rename(name string) error {
	if len(name) > stored.MaxName {
		return fault.New("give a shorter one", "rename tab: the name has %d bytes, and %d are allowed", len(name), stored.MaxName)
	}
	s.mu.Lock()
	s.name = name
	s.mu.Unlock()
	s.Announce()
	return fault.Wrap("rename tab: keep the name", stored.WriteName(s.layout, name), "")
}

// Replaces returns the session that this one replaces, or "".
func (s *Session) Replaces() stored.ID { return s.replaces }

// Files returns the paths of the session's files on the host.
func (s *Session) Files() stored.Layout { return s.layout }

// Contained reports whether the agent runs in a container.
func (s *Session) Contained() bool { return s.adapter.Place == agent.InContainer }

// Place sets the number of the session's life, and the channel that is closed when the session that it
// replaces has ended; nil: it replaces none. Call it before Run.
func (s *Session) Place(life int, after <-chan struct{}) { s.fixed.Life, s.after = life, after }

// SetTab sets the place of the session's tab in the bar, and reports whether it was another one. The
// caller announces the change.
func (s *Session) SetTab(place int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.tab
	s.tab = place
	return was != place
}

// SetWaiting sets how many of the session's calls wait for a person.
func (s *Session) SetWaiting(n int) {
	s.count(func(t *tally) { t.waiting = n })
	if n == 0 {
		s.retractNotice(aboutRestored)
	}
}

// Audit returns the session's audit and the policy that judges its calls. Both are nil early in the
// start, and in a session without tools.
func (s *Session) Audit() (*audit.Log, *policy.Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log, s.engine
}

// SetTrouble sets what is wrong with the container engine, or "", and announces a change.
func (s *Session) SetTrouble(text string) {
	s.mu.Lock()
	same := s.trouble == text
	s.trouble = text
	s.mu.Unlock()
	if !same {
		s.Announce()
	}
}

// workspaceGone is what a tab shows as long as its workspace is missing.
const workspaceGone = "the workspace is gone"

// CheckWorkspace tells the person when the workspace is missing or another directory than at the first
// check, and when it is back. Errors other than a missing directory are ignored.
func (s *Session) CheckWorkspace() {
	info, err := os.Stat(s.fixed.Workspace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return
	}
	// Reading the state after the directory keeps a workspace from being reported as gone that was
	// removed at the end of its session.
	if state := s.Info().State; state == stored.StateStarting || state == stored.StateDead || state == stored.StateClosed {
		return
	}
	s.mu.Lock()
	if s.workspace == nil {
		s.workspace = info
	}
	gone := err != nil || !os.SameFile(info, s.workspace)
	same := gone == s.workspaceMissing
	s.workspaceMissing = gone
	s.mu.Unlock()
	switch {
	case same:
	case gone:
		s.Announce()
		s.notice(true, fmt.Sprintf("the workspace %s was deleted, moved or replaced: files that the agent writes are not stored there; put the directory back, or /close the tab", s.fixed.Workspace))
	default:
		s.Announce()
		s.notice(false, "the workspace is back")
	}
}

// AwaitsPlace reports whether the session that this one replaces has not ended yet.
func (s *Session) AwaitsPlace() bool {
	if s.after == nil {
		return false
	}
	select {
	case <-s.after:
		return false
	default:
		return true
	}
}

// awaitPlace waits until the session that this one replaces has ended.
func (s *Session) awaitPlace(ctx context.Context) error {
	if !s.AwaitsPlace() {
		return nil
	}
	s.progress("waiting for the end of the former agent", "")
	select {
	case <-s.after:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// repeatNotice is how long a notice equal to the last one is dropped.
const repeatNotice = time.Minute

// Info describes the session and its state now.
func (s *Session) Info() stored.Session {
	_, state := s.tally.update(func(*tally) {})
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.fixed
	out.State, out.Tab, out.Name = state, s.tab, s.name
	out.Reason, out.ExitCode, out.Trouble = s.reason, s.exitCode, s.trouble
	if s.trouble != "" && out.State == stored.StateIdle {
		out.State = stored.StateUnknown
	}
	if s.ports != nil && state != stored.StateDead && state != stored.StateClosed {
		out.Ports = s.ports.String()
	}
	s.describeFar(&out)
	if s.workspaceMissing {
		out.Notice = strings.TrimSuffix(workspaceGone+" · "+out.Notice, " · ")
	}
	return out
}

// count changes the tally and announces the session if its state has changed.
func (s *Session) count(change func(*tally)) {
	if before, after := s.tally.update(change); before != after {
		s.Announce()
	}
}

// Announce publishes the session's description and state.
func (s *Session) Announce() {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.deps.Events.Changed(s.Info())
}

// describe returns an error and its hint on one line.
func describe(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // of errors that were joined
	if next := fault.Hint(err); next != "" {
		text += " (" + next + ")"
	}
	return text
}

// notice sends the person a notice about this session, which cannot be removed. See sendNotice.
func (s *Session) notice(urgent bool, text string) {
	s.sendNotice(Notice{Urgent: urgent, Text: text})
}

// sendNotice sends the person a notice about this session, unless an equal one was the last within
// repeatNotice.
func (s *Session) sendNotice(n Notice) {
	s.mu.Lock()
	again := s.lastNotice == n.Text && time.Since(s.lastNoticeAt) < repeatNotice
	if !again {
		s.lastNotice, s.lastNoticeAt = n.Text, time.Now()
	}
	if n.About != "" {
		if s.noticed == nil {
			s.noticed = map[string]bool{}
		}
		s.noticed[n.About] = true
	}
	s.mu.Unlock()
	if again {
		return
	}
	n.Session = s.fixed.ID
	s.deps.Events.Noticed(n)
}

// retractNotice removes the session's notices with this About. An equal notice is sent again then.
func (s *Session) retractNotice(about string) {
	s.mu.Lock()
	told := s.noticed[about]
	delete(s.noticed, about)
	if told {
		s.lastNotice = ""
	}
	s.mu.Unlock()
	if told {
		s.deps.Events.Noticed(Notice{Session: s.fixed.ID, About: about})
	}
}

// tally counts what a session is doing and derives its state from the counts. The proxies and the
// approval queue report what they do; what the agent draws on its terminal never counts.
type tally struct {
	mu        sync.Mutex
	running   bool
	connected bool // to the tools; always true for agents without tools
	dead      bool
	closed    bool
	requests  int  // model requests under way
	calls     int  // tool calls under way, including waiting ones
	waiting   int  // calls that wait for a person
	turn      bool // a task of start is under way
}

// update changes the counts and reports the state before and after.
func (t *tally) update(change func(*tally)) (before, after stored.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.state()
	change(t)
	return before, t.state()
}

func (t *tally) state() stored.State {
	switch {
	case t.closed:
		return stored.StateClosed
	case t.dead:
		return stored.StateDead
	case !t.running || !t.connected:
		return stored.StateStarting
	case t.waiting > 0:
		return stored.StateWaiting
	case t.requests > 0 || t.calls > 0 || t.turn:
		return stored.StateWorking
	}
	return stored.StateIdle
}
