package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// occasion is a kind of event that is announced to a person who may be looking elsewhere.
type occasion string

// The occasions. The first three are events of the broker, the other two are requests of a
// program.
const (
	onEscalated occasion = "escalation"
	onDone      occasion = "done"
	onDead      occasion = "dead"
	onBell      occasion = "bell"
	onMessage   occasion = "message"
)

// Occasions returns the events that Options.NotifyOn can name.
func Occasions() []string { return []string{string(onEscalated), string(onDone), string(onDead)} }

// doneSettle is how long an agent must have been idle to count as done, because it pauses
// for a moment between two steps of its work.
const doneSettle = 2 * time.Second

// notification is one announcement. Its texts are safe to draw.
type notification struct {
	what    occasion
	tab     int
	session string
	title   string // names the tab
	text    string
}

// announce announces an event to a person who may be looking elsewhere, in the ways that
// are configured, unless the tab is muted. The bell and the desktop get at most one
// announcement a second. The person's command gets all of the broker's events, but no
// request of a program, so that an agent cannot start the command.
func (m *Model) announce(t *tab, what occasion, message string) {
	asked := what == onBell || what == onMessage || len(m.o.NotifyOn) == 0 || slices.Contains(m.o.NotifyOn, string(what))
	if m.muted || t != nil && t.muted || !asked {
		return
	}
	n := notification{what: what, title: "ironcurtain-mux", text: text.Drawable(message)}
	if t != nil {
		n.tab, n.session = t.session.Tab, string(t.session.ID)
		n.title += fmt.Sprintf(" tab %d %s", t.session.Tab, text.Drawable(t.title()))
	}
	if m.command != nil && what != onBell && what != onMessage {
		m.command(n)
	}
	if now := m.now(); m.o.Notify != "none" && now.Sub(m.announced) >= announceEvery {
		m.announced = now
		m.sink.Request(func(d view.Display) error { return d.Bell() })
		if m.o.Notify == "desktop" {
			m.sink.Request(func(d view.Display) error { return d.Notify(n.title, n.text) })
		}
	}
}

// finished checks, doneSettle after an agent became idle, whether it still is, and then
// announces to a person who looks elsewhere that it is done.
func (m *Model) finished(msg finishedMsg) {
	t := m.tabOf(msg.id)
	if t == nil || t.changes != msg.changes || m.looksAt(t) {
		return
	}
	if t != m.current() {
		t.fresh, t.done, m.dirty = true, true, true
	}
	m.announce(t, onDone, "done")
}

// onPane handles what a program asked its terminal for. Bells reach the person at most once
// a second. A copy reaches the clipboard only when the person can have caused it or allows
// it. Programs never read the clipboard.
func (m *Model) onPane(msg paneMsg) tea.Cmd {
	t := m.tabOf(msg.id)
	if t == nil {
		return nil
	}
	switch msg.event.Kind {
	case term.EventBell:
		if t != m.current() {
			t.fresh, m.dirty = true, true
		}
		m.announce(t, onBell, "bell")
	case term.EventClipboard:
		return m.onProgramCopies(t, msg)
	case term.EventFault:
		m.showError(fault.New("please report this", "tab %d: its screen failed and was cleared: %s", t.session.Tab, msg.event.Text))
	case term.EventStatus:
		t.says, m.dirty = readReport(msg.event.Text), true
	case term.EventTitle:
		t.agentTitle = view.Clip(text.Drawable(msg.event.Title), maxAgentTitle)
	case term.EventNotification:
		if t != m.current() {
			t.fresh, m.dirty = true, true
		}
		if !m.looksAt(t) {
			m.announce(t, onMessage, msg.event.Text)
		}
	}
	return nil
}

// looksAt reports whether the person is probably looking at the tab: it is the focused one,
// and the person's terminal has not lost the focus.
func (m *Model) looksAt(t *tab) bool { return t == m.current() && !m.outerLost }

const (
	// maxNotifications is how many notifications wait while the person's command runs;
	// later ones are dropped.
	maxNotifications = 16
	// notifyTime is how long the command may run before it is killed.
	notifyTime = 10 * time.Second
)

// notifier runs the person's own command for each notification, one at a time and without
// a shell. The command gets the notification in its environment, so that no text of it is
// taken for an argument or for code.
type notifier struct {
	argv  []string
	limit time.Duration
	queue chan notification // lossy
	send  func(tea.Msg)
}

func newNotifier(argv []string, limit time.Duration, send func(tea.Msg)) *notifier {
	return &notifier{argv: argv, limit: limit, queue: make(chan notification, maxNotifications), send: send}
}

// offer queues a notification, or drops it when the queue is full. It never blocks.
func (n *notifier) offer(note notification) {
	select {
	case n.queue <- note:
	default:
	}
}

// serve runs the command until ctx ends.
func (n *notifier) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case note := <-n.queue:
			if err := n.run(ctx, note); err != nil && ctx.Err() == nil {
				n.send(notifiedMsg{err})
			}
		}
	}
}

// run runs the command once. When the command takes too long, its whole process group is
// killed.
func (n *notifier) run(ctx context.Context, note notification) error {
	limited, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, n.argv[0], n.argv[1:]...)
	cmd.Env = append(os.Environ(), note.environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	name := filepath.Base(n.argv[0])
	switch err := cmd.Run(); {
	case err == nil:
		return nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fault.New("make notifyCommand end sooner", "notify: %s took more than %v and was killed", name, n.limit)
	default:
		return fault.New("fix notifyCommand in config.json", "notify: %s: %w", name, err)
	}
}

// environment returns the variables that tell the command about a notification.
func (n notification) environment() []string {
	return []string{
		"IRONCURTAIN_EVENT=" + string(n.what),
		"IRONCURTAIN_TAB=" + strconv.Itoa(n.tab),
		"IRONCURTAIN_SESSION=" + n.session,
		"IRONCURTAIN_TITLE=" + n.title,
		"IRONCURTAIN_TEXT=" + n.text,
	}
}
