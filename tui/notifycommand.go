package tui

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

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
