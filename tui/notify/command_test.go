package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runs runs a command for notifications; its errors arrive on the channel.
func runs(t *testing.T, limit time.Duration, argv ...string) (*Notifier, <-chan string) {
	t.Helper()
	failed := make(chan string, maxNotes)
	n := &Notifier{
		Settings: func() ([]string, []string) { return argv, nil }, Tell: func(text string) { failed <- text },
		Muted: func(broker.SessionID) bool { return false },
		limit: limit, queue: make(chan note, maxNotes),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.runCommands(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return n, failed
}

// The command gets the notification in its environment, and no text of it is run.
func TestTheCommand(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	n, failed := runs(t, commandTime, "sh", "-c",
		`printf '%s\n' "$IRONCURTAIN_EVENT" "$IRONCURTAIN_AGENT" "$IRONCURTAIN_SESSION" "$IRONCURTAIN_TITLE" "$IRONCURTAIN_TEXT" >`+out+`; exit 3`)
	n.notify(note{Done, broker.Session{ID: "s2", Agent: "$(touch " + dir + "/pwned)"}, "`touch " + dir + "/pwned`; 'x"})
	if got := <-failed; got != "notify: sh: exit status 3 (fix notifyCommand in config.json)" {
		t.Error(got)
	}
	text, _ := os.ReadFile(out)
	want := "done\n$(touch " + dir + "/pwned)\ns2\nironcurtain-mux $(touch " + dir + "/pwned) s2\n`touch " + dir + "/pwned`; 'x\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(dir + "/pwned"); err == nil {
		t.Error("a notification was run")
	}
}

// A command that does not end is killed with the processes it has started. The number of
// notifications that wait meanwhile is bounded.
func TestTheCommandIsBounded(t *testing.T) {
	n, failed := runs(t, 100*time.Millisecond, "sh", "-c", "sleep 1000 & sleep 1000")
	for range 10 * maxNotes {
		n.notify(note{what: Done})
	}
	if len(n.queue) > maxNotes {
		t.Errorf("%d wait", len(n.queue))
	}
	if got := <-failed; !strings.Contains(got, "sh took more than 100ms and was killed") {
		t.Error(got)
	}
	absent, failed := runs(t, commandTime, "/nonexistent/notify")
	absent.notify(note{what: Done})
	if got := <-failed; !strings.Contains(got, "no such file") {
		t.Error(got)
	}
}
