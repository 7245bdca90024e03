package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const (
	// maxNotes is how many notifications wait while the person's command runs; later ones are
	// dropped.
	maxNotes = 16
	// commandTime is how long the command may run before it is killed.
	commandTime = 10 * time.Second
)

// runCommands runs the person's command for one notification after the other, until ctx ends. It
// reports an error to the person, unless the last run has failed with the same error.
func (n *Notifier) runCommands(ctx context.Context) {
	var told string
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-n.queue:
			now := ""
			if err := n.run(ctx, next); err != nil && ctx.Err() == nil {
				if now = fmt.Sprintf("%v (%s)", err, fault.Hint(err)); now != told {
					n.Tell(now)
				}
			}
			told = now
		}
	}
}

// run runs the command once, without a shell. The command gets the notification in its environment, so
// that the notification's text cannot become an argument or code. When the command takes too long, its
// whole process group is killed.
func (n *Notifier) run(ctx context.Context, next note) error {
	argv, _ := n.Settings()
	if len(argv) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), next.environment()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	name := filepath.Base(argv[0])
	switch err := cmd.Run(); {
	case err == nil:
		return nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return fault.New("make notifyCommand end sooner", "notify: %s took more than %v and was killed", name, n.limit)
	default:
		return fault.New("fix notifyCommand in config.json", "notify: %s: %w", name, err)
	}
}
