package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// muxCommand makes root the command that opens the multiplexer.
func muxCommand(root *cobra.Command) {
	var flags wiring.TabFlags
	flags.Register(root)
	flags.RegisterProfile(root)
	root.Flags().String(hostFlag, "", "run the program on that machine, over ssh; it comes before all other arguments")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(hostFlag) {
			return errHostPlace
		}
		return openMux(cmd, flags)
	}
}

// openMux shows the multiplexer in this terminal, and starts the daemon if it does not run.
func openMux(cmd *cobra.Command, flags wiring.TabFlags) error {
	const op = "open multiplexer"
	p, o, err := running.ClientOptions()
	if err != nil {
		return err
	}
	if o.Engine, err = flags.Engine.In(p).Demand(); err != nil {
		return cli.Fail(op, err, "")
	}
	err = client.Reach(cmd.Context(), o)
	if err != nil && !errors.Is(err, client.ErrNoDaemon) {
		return cli.Fail(op, err, "")
	}
	if (err != nil && !leftRunning(cmd.Context(), p)) || flags.Tab() != nil {
		if _, err := flags.CheckTab(cmd.Context()); err != nil {
			return err // before anything is drawn
		}
	}
	o.View.Open, o.View.Here = flags.Tab(), true
	if err := showHere(cmd, op, p, &o); err != nil {
		return err
	}
	o.Variables = p.DaemonVariables(flags.Servers)
	end, err := startAndAttach(cmd, o)
	return keepAttached(cmd, op, o, end, err)
}

// leftRunning reports whether a killed daemon may have left agents running. Then these are taken
// back, which needs none of the person's credentials.
func leftRunning(ctx context.Context, p wiring.Paths) bool {
	dirs, err := stored.Leftovers(ctx, p.Home, false)
	return err == nil && len(dirs) > 0
}

// A daemon that crashes is restarted at most maxRestarts times within restartWithin.
const (
	maxRestarts   = 3
	restartWithin = time.Minute
)

// failedAgain is the time after a failure of the view within which a second failure leads to the
// safe view.
const failedAgain = 10 * time.Second

// keepAttached restarts a daemon that has crashed while it showed a view, and attaches again. It also
// attaches again when the view has failed, with the safe view if it fails twice in a moment. It
// reports any other end to the person.
func keepAttached(cmd *cobra.Command, op string, o client.Options, end string, err error) error {
	o.View.Open, o.View.Here = o.View.Open.Again(), false
	var restarts []time.Time
	var failed time.Time
	for errors.Is(err, client.ErrLost) || errors.Is(err, client.ErrViewFailed) {
		if errors.Is(err, client.ErrViewFailed) {
			if o.View.Safe {
				break
			}
			o.View.Safe = time.Since(failed) < failedAgain
			failed = time.Now()
			end, err = client.Attach(cmd.Context(), o)
			continue
		}
		if n := len(restarts); n >= maxRestarts && time.Since(restarts[n-maxRestarts]) < restartWithin {
			break
		}
		restarts = append(restarts, time.Now())
		end, err = startAndAttach(cmd, o)
	}
	return reportEnd(cmd, op, end, err)
}

// startAndAttach starts the daemon, unless it runs, and shows it.
func startAndAttach(cmd *cobra.Command, o client.Options) (end string, err error) {
	for range 3 { // the daemon may end between the two calls
		if _, err := running.StartDaemon(cmd, o); err != nil {
			return "", err
		}
		if end, err = client.Attach(cmd.Context(), o); !errors.Is(err, client.ErrNoDaemon) {
			break
		}
	}
	return end, err
}

// offerOf returns a function that reports whether a killed multiplexer left agents running.
func offerOf(b *broker.Broker) func(context.Context) bool {
	return func(ctx context.Context) bool {
		left, _ := b.LeftRunning(ctx) // it fails only when ctx has ended
		return len(left) > 0
	}
}

// options are the options of a view: the broker and the person's settings.
func options(w wiring.Parts, b *broker.Broker, in, out *os.File) tui.Options {
	return tui.Options{
		API: b, In: in, Out: out,
		Scrollback: w.Config.Scrollback, Engine: w.Config.Terminal.Engine,
		Theme: w.Config.Theme, NoMouse: !w.Config.Mouse, NoStrip: !w.Config.Strip,
		Notify: w.Config.Notify, NotifyOn: w.Config.NotifyOn,
		CommandKey: w.Config.CommandKey, Prefix: w.Config.Prefix, Keys: w.Config.Keys,
		Phrase: newPhrase(),
		Intro:  w.Intro,
	}
}

// notifier returns a function that runs the person's command for notifications until its context
// ends.
func notifier(w wiring.Parts, b *broker.Broker, kept *arrangements) func(context.Context, daemon.Looked, daemon.Muted) {
	return func(ctx context.Context, looked daemon.Looked, muted daemon.Muted) {
		n := notify.Notifier{Broker: b, Looked: looked, Muted: func(id broker.SessionID) bool {
			yes, known := muted(id)
			return yes || !known && kept.newest().Mutes(id)
		}, Tell: b.Tell, Settings: func() (argv, on []string) {
			c := w.Latest().Config
			return c.NotifyCommand, c.NotifyOn
		}}
		n.Run(ctx)
	}
}

// terminalOf returns the two streams as files, which a full screen needs.
func terminalOf(cmd *cobra.Command) (in, out *os.File, err error) {
	const op = "open multiplexer"
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	if !okIn || !okOut {
		return nil, nil, cli.Fail(op, errors.New("input and output are not a terminal"),
			"run it in a terminal, without redirection")
	}
	return in, out, cli.Fail(op, outer.Check(in, out), "")
}
