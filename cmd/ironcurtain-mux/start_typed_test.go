package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

const pushOrder = "push my changes to origin"

// pushHome is a home where calls that a person ordered are approved, and reports what was
// pushed to the demo's remote.
func pushHome(t *testing.T) (home string, pushed func() bool) {
	t.Helper()
	home = newHome(t)
	configure(t, home, `{"autoApprove":{"enabled":true}}`)
	return home, func() bool {
		_, err := os.Stat(home + "/state/demo/remotes/hello.git/refs/heads/main")
		return err == nil
	}
}

// What a person types at the terminal of start is an order; what they paste is none. The
// line can be edited, and the terminal is given back.
func TestStartTypedOrder(t *testing.T) {
	t.Parallel()
	home, pushed := pushHome(t)
	d := drive(t, home, 110, 40, "start", "--demo", "--agent", "claude-code")
	d.see(patience, "\n>")
	d.send("\x1b[200~" + pushOrder + "\x1b[201~")
	d.see(patience, "> "+pushOrder)
	d.send("\r")
	d.see(patience, "call 1 waits for you", "decide it with /approve 1")
	d.deny()
	d.see(patience, "1 call refused") // before that, the prompt only takes answers
	d.until("the next prompt", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\n>") })
	if pushed() {
		t.Fatal("a pasted text was an order")
	}
	d.send("push my changes to originX\x7f")
	d.see(patience, "> "+pushOrder+"\n")
	d.send("\r")
	d.see(patience, "was approved automatically: git/git_push, by "+pushOrder)
	d.until("the push", patience, func(string) bool { return pushed() })
	d.until("the prompt after the answer", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\n>") })
	d.send("\x04")
	if code := d.exit(time.Minute); code != cli.ExitDenied { // from another terminal
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(d.audit(d.allStored()[0].ID), `"decision":"auto-approved"`); n != 1 {
		t.Errorf("%d calls were approved automatically", n)
	}
}

// Ctrl-C interrupts the task that runs, and what it has started; the session goes on. At the
// prompt it clears the line, and ends the session when it is pressed twice.
func TestStartInterrupted(t *testing.T) {
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	for agent, c := range map[string]struct{ long, shows, short, answer string }{
		"shell":   {"echo begun >begun; sleep 1000", "", "cat begun; pgrep -af 'sleep [1]000' || echo nothing", "begun\nnothing"},
		"builtin": {"write /tmp/ironcurtain-interrupted hello", "decide it with /approve 1", "read hello.txt", "Hello from the workspace"},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			d := drive(t, newHome(t), 110, 40, "start", "--demo", "--agent", agent)
			prompt := func() {
				t.Helper()
				d.until("the prompt", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\n>") })
			}
			prompt()
			d.send(c.long + "\r")
			if c.shows != "" {
				d.see(patience, c.shows)
			} else {
				d.until("the beginning", patience, func(string) bool { return d.made("begun") })
			}
			d.send("\x03")
			d.see(patience, "the task was interrupted")
			prompt()
			d.send("/help\r" + c.short + "\r")
			d.see(patience, "interrupt the task", c.answer)
			prompt()
			d.send("forgotten\x03")
			prompt()
			d.send("\x03")
			d.see(patience, "Ctrl-C again ends the session")
			prompt()
			d.send("\x03")
			if code := d.exit(time.Minute); code != cli.ExitFailure || !d.says("1 of 2 tasks got no answer") {
				t.Errorf("exit code %d:\n%s", code, d.text())
			}
			if record := d.audit(d.allStored()[0].ID); c.shows != "" && !strings.Contains(record, `"decision":"escalated-withdrawn"`) {
				t.Errorf("the call was not withdrawn: %s", record)
			}
		})
	}
}

// A task that a person types in their shell is an order. In a script it is none, and the
// call waits.
func TestStartOrderOnTheCommandLine(t *testing.T) {
	ready := regexp.MustCompile(`\nready-[0-9]:\s*$`) // the shell's prompt, and nothing behind it
	for name, test := range map[string]struct {
		before, after string // of the command
		order         bool
	}{
		"typed in a shell": {"", "", true},
		"in a script":      {"sh -c '", "; true'", false},
		"without stderr":   {"", " 2>/dev/null", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, pushed := pushHome(t)
			d := driveArgv(t, home, 110, 40, "sh", "-i")
			d.send("PS1='ready-$?: '\r")
			d.see(patience, "ready-0:")
			d.send(test.before + `ironcurtain-mux start --demo --agent claude-code "` + pushOrder + `"` + test.after + "\r")
			if test.order {
				d.see(patience, "was approved automatically: git/git_push")
			} else {
				d.deny()
			}
			d.until("the end", patience, func(screen string) bool {
				return ready.MatchString(screen)
			})
			if pushed() != test.order {
				t.Errorf("pushed: %v", pushed())
			}
			d.send("exit\r")
			d.exit(time.Minute)
		})
	}
}

// A task that is piped in, or given where there is no terminal, is no order.
func TestStartWithoutATerminalIsNoOrder(t *testing.T) {
	for name, run := range map[string]struct {
		input string
		args  []string
		code  int
	}{
		"piped": {pushOrder + "\n/deny 1\n", nil, cli.ExitOK},
		"given": {"", []string{pushOrder}, cli.ExitDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, pushed := pushHome(t)
			d := &driver{t: t, home: home}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if _, errs, code := runStart(t, home, run.input, run.args...); code != run.code || !strings.Contains(errs, "call 1 waits for you") {
					t.Errorf("code %d: %s", code, errs)
				}
			}()
			if run.input == "" {
				d.deny()
			}
			<-ended
			if pushed() {
				t.Error("it was an order")
			}
		})
	}
}

// deny waits for a call of a start that runs beside the test, and denies it.
func (d *driver) deny() {
	d.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	waiting := d.pending()
	for ; len(waiting) == 0; waiting = d.pending() {
		select {
		case <-tick.C:
		case <-deadline.C:
			d.t.Fatal("no call waits")
		}
	}
	if _, errs, code := d.command("deny", waiting[0].ID); code != cli.ExitOK {
		d.t.Fatalf("deny: %s", errs)
	}
}

// A line that is longer than the screen is wide scrolls in one row, and stands there as a
// whole once it is entered. Ctrl-Z stops start, and its prompt works again after fg.
func TestStartEditsItsLine(t *testing.T) {
	t.Parallel()
	d := driveArgv(t, newHome(t), 60, 24, "env", "PS1=ready: ", "ENV=", "sh", "-i")
	d.see(patience, "ready:")
	d.send("ironcurtain-mux start --demo --agent shell\r")
	d.see(patience, "starting the container\n>")
	d.send("\x1a")
	d.see(patience, "Stopped")
	d.send("stty -a; fg\r")
	d.see(patience, " icanon", " echo ")
	d.until("the prompt", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\n>") })
	word := strings.Repeat("long-", 12)
	d.send("echo x" + word + "end \x1b[D\x1b[D\x1b[D\x1b[D-X\x01\x1b[H")
	d.see(patience, "\n> echo xlong-")
	d.send("\x1b[3~\x1b[3~\x1b[3~\x1b[3~printf\r")
	d.see(patience, "\nx"+word[:54]) // the answer, which the shell does not end
	d.see(patience, "-X"+"end")
	d.send("\x12rintf")
	d.see(patience, "search rintf: printf xlong-")
	d.send("zz")
	d.see(patience, "not found rintfzz: ")
	d.send("\x07")
	d.until("the prompt", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\n>") })
	d.send("\x04")
	d.until("the shell", patience, func(screen string) bool { return strings.HasSuffix(strings.TrimSpace(screen), "\nready:") })
	d.send("exit\r")
	d.exit(time.Minute)
}
