package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// serveCommand runs the multiplexer without a terminal. Below it are the program's own MCP
// servers, which the tool proxy starts in sandboxes.
func serveCommand() *cobra.Command {
	var flags muxFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the multiplexer without a terminal, as a daemon for attach",
		Long: `Run the multiplexer without a terminal. 'ironcurtain-mux attach' shows it in any
terminal, in several at a time if you like; /detach leaves it, and so does closing
the terminal. The agents run on. /quit in a tab, or 'ironcurtain-mux stop', ends them
and the daemon. There is one daemon for each IRONCURTAIN_HOME. It stays in the
foreground, takes its environment from here, and survives the end of the terminal.`,
		Example: "  ironcurtain-mux serve &\n  ironcurtain-mux attach",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd, flags) },
	}
	flags.registerReal(cmd)
	cmd.AddCommand(serveFetchCommand())
	return cmd
}

// serve runs the daemon until somebody ends it.
func serve(cmd *cobra.Command, flags muxFlags) error {
	const op = "start daemon"
	signal.Ignore(syscall.SIGHUP) // the terminal from which it was started is closed
	w, err := wireReal(cmd.Context(), &flags)
	if err != nil {
		return err
	}
	listener, unlock, err := daemon.Listen(w.paths.home)
	if err != nil {
		return fail(op, err, "")
	}
	defer func() { _ = unlock() }()
	var said bytes.Buffer // at the end, for whoever has asked for it
	cmd.SetErr(io.MultiWriter(cmd.ErrOrStderr(), &said))
	b, number, log, done, err := w.open(cmd, op)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	b.SetAway(true)
	left := b.Sweep()
	ctx, cancel := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer cancel()
	tasks := new(pane.Tasks)
	mux := pane.NewMux(ctx, tasks, term.Options{Engine: w.config.Terminal.Engine, Scrollback: w.config.Scrollback})
	show := func(ctx context.Context, c daemon.Client) (string, error) {
		o := w.options(b, number, c.In, c.Out)
		o.Agent, o.Mux, o.Detach = flags.agent, mux, true
		if left {
			o.Offer = offerOf(b)
		}
		o.Passed, o.Dir, o.Others, o.Failed = &c.Passed, c.Dir, c.Others, c.Failed
		err := tui.Run(ctx, o)
		switch {
		case errors.Is(err, tui.ErrDetached):
			return "detached; 'ironcurtain-mux attach' shows it again", nil
		case err != nil:
			return "", err
		case ctx.Err() != nil:
			return "the multiplexer was ended", nil
		}
		return "", daemon.ErrQuit
	}
	d := &daemon.Daemon{
		Version: thisBuild().Version, Log: log, Show: show,
		Attended: func(yes bool) { b.SetAway(!yes) },
		Running:  func() string { return running(cmd.Context(), b) },
		End: func() string {
			mux.Close()
			done()
			tasks.Wait(shutdownLimit)
			return said.String()
		},
	}
	return fail("serve", d.Serve(cmd.Context(), listener), "")
}

// running says how many agents run; empty for none.
func running(ctx context.Context, b *broker.Broker) string {
	sessions, _ := b.Sessions(ctx) // it fails only when ctx has ended
	n := 0
	for _, s := range sessions {
		if s.State != broker.StateDead && s.State != broker.StateClosed {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "an agent runs"
	}
	return fmt.Sprintf("%d agents run", n)
}

// attachCommand shows the daemon in this terminal.
func attachCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "attach",
		Short: "Show the multiplexer of 'serve' in this terminal",
		Long: `Show the multiplexer of 'ironcurtain-mux serve' in this terminal. /detach leaves it
running, and so does closing the terminal. Without a tab, attach opens one. Several
terminals can show it; a tab has the size of the one in which it was used last.`,
		Example: "  ironcurtain-mux attach\n  ssh -t workstation ironcurtain-mux attach",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := clientOptions(cmd)
			if err != nil {
				return err
			}
			if os.Getenv(insideVariable) != "" {
				return fail("attach", errors.New("this shell is one of the multiplexer's own tabs"), "attach in another terminal")
			}
			if o.In, o.Out, err = terminalOf(cmd); err != nil {
				return err
			}
			end, err := client.Attach(cmd.Context(), o)
			return told(cmd, "attach", end, err)
		},
	}
}

// stopCommand ends the daemon.
func stopCommand() *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "End the multiplexer of 'serve' and its agents",
		Long:    "End the multiplexer of 'ironcurtain-mux serve'. It refuses while agents run, except with --now.",
		Example: "  ironcurtain-mux stop --now",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := clientOptions(cmd)
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

// clientOptions say where the daemon is.
func clientOptions(*cobra.Command) (client.Options, error) {
	p, err := findPaths()
	if err != nil {
		return client.Options{}, err
	}
	name, _ := os.Hostname() // a client may have no name
	return client.Options{Socket: daemon.SocketPath(p.home), Version: thisBuild().Version, Name: name}, nil
}

// told tells the person how the daemon has served them.
func told(cmd *cobra.Command, op, end string, err error) error {
	if errors.Is(err, client.ErrNoDaemon) {
		return fail(op, err, "'ironcurtain-mux serve' starts one")
	}
	if end != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), text.ASCII(end))
	}
	return fail(op, err, "")
}
