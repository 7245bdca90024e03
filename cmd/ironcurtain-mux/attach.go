package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
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
		Short: "Show the multiplexer that runs in this terminal, too",
		Long: `Show the multiplexer that runs in this terminal, too, beginning with a session's tab; its
number or the beginning of the session's id is enough. /detach leaves it running, and so
does closing the terminal. Several terminals can show it; a tab has the size of the one in
which it was used last. Unlike 'ironcurtain-mux' alone, attach starts nothing when none runs.

With --read-only the terminal shows everything and changes nothing: no key reaches an
agent, nothing is decided, opened or run, and no tab takes its size. With --answer-only
it shows no agent: it asks about the calls that wait, line by line, one after the other,
and remembers no approval. --name says whose terminal it is, for records and 'clients ls'.

The tabs are arranged as in the terminal of that name that was detached last, or
else in any: which one is in front, the panes, the zoom and what is muted.`,
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
				s, err := stored.Find(p.Home, args[0])
				if err != nil {
					return cli.Fail("attach", err, "")
				}
				o.View.Show = string(s.ID)
			}
			o.Variables = p.DaemonVariables("")
			end, err := client.Attach(cmd.Context(), o)
			if o.Rights != wire.Operate { // such a client starts nothing
				return told(cmd, "attach", end, err)
			}
			return stay(cmd, "attach", o, end, err)
		},
	}
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "show everything, change nothing")
	cmd.Flags().BoolVar(&answerOnly, "answer-only", false, "show only the calls that wait, to decide them")
	cmd.Flags().StringVar(&name, "name", "", "what to call this terminal (default: the name of the machine)")
	cmd.MarkFlagsMutuallyExclusive("read-only", "answer-only")
	return cmd
}

// rightsOf are the rights of a terminal with these flags.
func rightsOf(readOnly, answerOnly bool) wire.Right {
	switch {
	case answerOnly:
		return wire.Answer
	case readOnly:
		return wire.See
	}
	return wire.Operate
}

// showHere has the daemon show itself on this terminal, and tells it what the tabs that are
// opened there have from its environment.
func showHere(cmd *cobra.Command, op string, p wiring.Paths, o *client.Options) (err error) {
	if os.Getenv(wiring.InsideVariable) != "" {
		return cli.Fail(op, errors.New("this shell is one of the multiplexer's own tabs"), "use another terminal")
	}
	if o.In, o.Out, err = terminalOf(cmd); err != nil {
		return err
	}
	if o.Rights != wire.Operate && o.Rights != "" {
		return nil // nothing is opened there
	}
	o.View.Keys = p.KeysHere()
	if c, err := p.Config(); err == nil && c.LocalShell {
		o.View.Environment = os.Environ()
	}
	return nil
}

// stopCommand ends the daemon.
func stopCommand() *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "End the multiplexer and its agents",
		Long:    "End the multiplexer that runs. It refuses while agents run, except with --now.",
		Example: "  ironcurtain-mux stop --now",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			end, err := client.Stop(cmd.Context(), o, now)
			return told(cmd, "stop", end, err)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "end agents that run, too")
	return cmd
}

// told tells the person how the daemon has served them.
func told(cmd *cobra.Command, op, end string, err error) error {
	if errors.Is(err, client.ErrNoDaemon) {
		return cli.Fail(op, err, "'ironcurtain-mux' starts one")
	}
	for line := range strings.Lines(end) {
		fmt.Fprintln(cmd.ErrOrStderr(), text.ASCII(strings.TrimSuffix(line, "\n")))
	}
	return cli.Fail(op, err, "")
}
