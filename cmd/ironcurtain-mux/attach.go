package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// attachCommand shows the daemon in this terminal.
func attachCommand() *cobra.Command {
	var readOnly, answerOnly bool
	var name string
	cmd := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Show the running multiplexer in this terminal, too",
		Long: `Show the running multiplexer in this terminal, too. SESSION is the tab to begin with: its
number, or the beginning of the session's id. /detach leaves the multiplexer running, and so
does closing the terminal. Several terminals can show it; a tab has the size of the terminal
in which it was used last. Unlike 'ironcurtain-mux' alone, attach starts no multiplexer.

With --read-only the terminal shows everything and changes nothing: no key reaches an
agent, nothing is decided, opened or run, and no tab takes its size. With --answer-only
it shows no agent: it asks about the waiting calls, line by line, one after the other,
and remembers no approval. --name names the terminal in records and in 'clients ls'.

The tabs are arranged as in the terminal of that name that was detached last, or else as
in the last detached terminal: the tab in front, the panes, the zoom and what is muted.`,
		Example: "  ironcurtain-mux attach\n  ironcurtain-mux attach --answer-only --name phone\n  ironcurtain-mux attach 6f1c\n  ironcurtain-mux --host workstation attach",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			o.Rights = rightsOf(readOnly, answerOnly)
			if name != "" {
				if err := cli.CheckName(name); err != nil {
					return &cli.UsageError{Err: cli.Fail("attach", err, "")}
				}
				o.Name, o.Named = name, true
			}
			if err := showHere(cmd, "attach", p, &o); err != nil {
				return err
			}
			if len(args) > 0 {
				s, err := sessions.Find(cmd.Context(), p, args[0])
				if err != nil {
					return cli.Fail("attach", err, "")
				}
				o.View.Show = string(s.ID)
			}
			o.Variables = p.DaemonVariables("")
			end, err := client.Attach(cmd.Context(), o)
			if o.Rights != wire.Operate { // such a client must not restart the daemon
				return reportEnd(cmd, "attach", end, err)
			}
			return keepAttached(cmd, "attach", o, end, err)
		},
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "show everything, change nothing")
	cmd.Flags().BoolVar(&answerOnly, "answer-only", false, "show only the waiting calls, to decide them")
	cmd.Flags().StringVar(&name, "name", "", "what to call this terminal (default: the name of the machine)")
	cmd.MarkFlagsMutuallyExclusive("read-only", "answer-only")
	return cmd
}

// rightsOf returns the rights of a terminal with these flags.
func rightsOf(readOnly, answerOnly bool) wire.Right {
	switch {
	case answerOnly:
		return wire.Answer
	case readOnly:
		return wire.See
	}
	return wire.Operate
}

// showHere sets this terminal as the one in which the daemon shows itself, and the part of the
// environment that tabs opened there get.
func showHere(cmd *cobra.Command, op string, p wiring.Paths, o *client.Options) (err error) {
	if os.Getenv(wiring.InsideVariable) != "" {
		return cli.Fail(op, errors.New("this shell is one of the multiplexer's own tabs"), "use another terminal")
	}
	if o.In, o.Out, err = terminalOf(cmd); err != nil {
		return err
	}
	if o.Rights != wire.Operate && o.Rights != "" {
		return nil // such a client opens no tabs
	}
	o.View.Keys = p.KeysHere()
	if c, err := p.Config(); err == nil && c.LocalShell {
		o.View.Environment = os.Environ()
	}
	return nil
}

// reportEnd prints the daemon's last message, and returns the operation's error.
func reportEnd(cmd *cobra.Command, op, end string, err error) error {
	if errors.Is(err, client.ErrNoDaemon) {
		return cli.Fail(op, err, "'ironcurtain-mux' starts one")
	}
	for line := range strings.Lines(end) {
		fmt.Fprintln(cmd.ErrOrStderr(), text.Drawable(strings.TrimSuffix(line, "\n")))
	}
	return cli.Fail(op, err, "")
}
