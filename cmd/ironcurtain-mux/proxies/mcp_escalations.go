package proxies

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// escalationHandler decides the calls that the policy escalates.
type escalationHandler struct {
	queue *approval.Queue // nil: nobody
	stop  func()
}

// personTerminal is the terminal that this process was started at.
type personTerminal struct{ *os.File }

func (t personTerminal) DropInput() error { return outer.DropInput(t.File) }

// handler sets up the way to decide that --escalations names.
func (f *mcpFlags) handler(ctx context.Context, stderr io.Writer) (escalationHandler, error) {
	if f.escalations == "deny" {
		return escalationHandler{stop: func() {}}, nil
	}
	q := approval.New(approval.Options{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	a := escalationHandler{queue: q, stop: func() { q.Close(); cancel(); <-done }}
	if f.escalations == "prompt" {
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			cancel()
			return escalationHandler{}, cli.Fail("open the terminal", err, "--escalations prompt needs one; use a directory or deny")
		}
		a.stop = func() { q.Close(); cancel(); _ = tty.Close(); <-done }
		go func() {
			defer close(done)
			_ = approval.ServePrompt(ctx, q, personTerminal{tty}, identity.Client{})
		}()
		return a, nil
	}
	dir := wiring.AbsolutePath(f.escalations)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		cancel()
		return escalationHandler{}, cli.Fail("prepare escalations", err, "choose another --escalations directory")
	}
	go func() {
		defer close(done)
		if err := approval.ServeFiles(ctx, q, dir); err != nil {
			fmt.Fprintln(stderr, "ironcurtain-mux: "+err.Error())
		}
	}()
	return a, nil
}
