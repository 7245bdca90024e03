package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// panicVariable makes the test binary a multiplexer that panics.
const panicVariable = "TUI_TEST_PANIC"

// panicBroker panics where its variable says.
type panicBroker struct{ *fakeBroker }

func (b panicBroker) Attach(ctx context.Context, _ broker.SessionID) (broker.Terminal, error) {
	if os.Getenv(panicVariable) == "request" {
		panic("in a request to the broker")
	}
	return panicTerminal{newFakeTerminal()}, ctx.Err()
}

type panicTerminal struct{ *fakeTerminal }

func (panicTerminal) CopyTo(io.Writer) error { panic("in a pane") }

func panicWhileRunning() {
	b := panicBroker{newFakeBroker()}
	if err := Run(context.Background(), Options{API: b, In: os.Stdin, Out: os.Stdout}); err != nil {
		panic(err)
	}
}

// TestPanicRestoresTheTerminal panics in a process of its own and checks the modes of the
// terminal afterwards.
func TestPanicRestoresTheTerminal(t *testing.T) {
	for _, where := range []string{"pane", "request"} {
		t.Run(where, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), panicVariable+"="+where, "TERM=xterm-256color")
			ptmx, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer ptmx.Close()
			var stderr bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			tty.Close()
			screen, err := term.NewScreen(term.Options{Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			entered := false
			buf := make([]byte, 4096)
			for {
				n, err := ptmx.Read(buf)
				for _, b := range buf[:n] {
					_, _ = screen.Write([]byte{b})
					entered = entered || screen.Modes().AltScreen
				}
				if err != nil {
					break
				}
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) {
				t.Errorf("the process ended with %v", err)
			}
			if m := screen.Modes(); !entered || m.AltScreen || m.BracketedPaste || m.Mouse != 0 || m.Kitty != 0 {
				t.Errorf("entered %v, the terminal is left with %+v", entered, m)
			}
			if !strings.Contains(stderr.String(), "panic: in a") {
				t.Errorf("stderr does not name the panic: %s", stderr.String())
			}
		})
	}
}
