package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// serveCommand runs the multiplexer without a terminal. Below it are the program's own MCP
// servers, which the tool proxy starts in sandboxes.
func serveCommand() *cobra.Command {
	var started, check bool
	var unit string
	var inherited daemon.Inherited
	var flags wiring.TabFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon of the multiplexer in the foreground",
		Long: `Run the daemon of the multiplexer in the foreground, until /quit or 'ironcurtain-mux
stop' ends it with its agents. This is for service managers: 'ironcurtain-mux' starts
the daemon by itself when none runs. There is one for each IRONCURTAIN_HOME. It takes
its environment from here, and survives the end of the terminal.

--print-unit only prints a unit with which a service manager starts the daemon when you
log in, and again when it has failed. End a daemon that runs before you enable it.
For systemd, put it into ~/.config/systemd/user/ironcurtain-mux.service and run
'systemctl --user enable --now ironcurtain-mux'; 'loginctl enable-linger' lets it begin
with the machine and outlive your logout. For launchd, put it into
~/Library/LaunchAgents/ironcurtain-mux.plist and run 'launchctl bootstrap gui/$(id -u)'
with that file. The daemon then has the manager's environment: with systemd,
'systemctl --user import-environment PATH' gives it your PATH. The unit names
IRONCURTAIN_HOME and IRONCURTAIN_CACHE if they are set, and no key.`,
		Example: "  ironcurtain-mux serve &\n  ironcurtain-mux attach\n  ironcurtain-mux serve --print-unit systemd > ~/.config/systemd/user/ironcurtain-mux.service",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("print-unit") {
				return printUnit(cmd, unit, flags.Engine)
			}
			if check {
				return checkServing(cmd)
			}
			s := new(starter)
			if started {
				s = startedBy(client.ReadyFD)
			}
			return s.tell(serve(cmd, s, &flags, inherited))
		},
	}
	flags.Engine.Register(cmd)
	cmd.Flags().BoolVar(&check, checkFlag, false, "say whether it could serve, as JSON")
	_ = cmd.Flags().MarkHidden(checkFlag) // there is such a flag
	cmd.Flags().Var(&inherited, inheritFlag, "go on with what the former program of this process has left open")
	_ = cmd.Flags().MarkHidden(inheritFlag) // there is such a flag
	cmd.Flags().BoolVar(&started, running.StartedFlag, false, "started by a client, which waits until it serves")
	cmd.Flags().StringVar(&unit, "print-unit", "", "print a unit for a service `manager`, systemd or launchd, and do nothing else")
	_ = cmd.Flags().MarkHidden(running.StartedFlag) // there is such a flag
	cmd.AddCommand(serveFetchCommand())
	return cmd
}

// inheritFlag makes serve go on with the daemon that this process was with another program.
const inheritFlag = "inherited"

// starter is the client that has started this daemon; nil: a person has.
type starter struct{ waits *os.File }

// startedBy returns the client that waits at a descriptor.
func startedBy(fd int) *starter {
	syscall.CloseOnExec(fd)
	return &starter{os.NewFile(uintptr(fd), "starter")}
}

// tell tells the client that the daemon serves clients, or that it does not because of err,
// which it returns. It does nothing the second time.
func (s *starter) tell(err error) error {
	if s.waits == nil {
		return err
	}
	var told wire.Started
	if err != nil {
		told = wire.Started{Op: "start daemon", Reason: err.Error(), Next: fault.Hint(err)}
		if f := (*cli.Failure)(nil); errors.As(err, &f) {
			told.Op, told.Reason = f.Op, f.Err.Error()
		}
	}
	// The client may be gone.
	_ = json.NewEncoder(s.waits).Encode(told)
	_ = s.waits.Close()
	s.waits = nil
	return err
}

// serve runs the daemon until somebody ends it, or nothing is left to come back for in one that
// a client has started.
func serve(cmd *cobra.Command, s *starter, flags *wiring.TabFlags, inherited daemon.Inherited) error {
	const op = "start daemon"
	signal.Ignore(syscall.SIGHUP) // the terminal from which it was started is closed
	if err := hideMemory(); err != nil {
		return cli.Fail(op, fmt.Errorf("hide the memory from other programs: %w", err), "")
	}
	w, err := daemonParts(cmd.Context(), flags)
	if err != nil {
		return err
	}
	door, former, err := openDoor(cmd.Context(), w.Paths.Home, inherited)
	if err != nil {
		return cli.Fail(op, err, "")
	}
	defer func() { _ = door.Unlock() }()
	var said bytes.Buffer // at the end, for whoever has asked for it
	cmd.SetErr(io.MultiWriter(cmd.ErrOrStderr(), &said))
	b, log, done, err := w.Open(cmd)
	if err != nil {
		return errors.Join(err, door.Close())
	}
	if err := noteEngine(w.Paths); err != nil {
		log.Error("a daemon that follows a killed one may look for the agents in another container engine", "error", err)
	}
	b.SetAway(true)
	ctx, cancel := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer cancel()
	v := newViews(ctx, w, b, log)
	var writing sync.WaitGroup
	writing.Go(func() { v.kept.write(ctx, arrangementsFile(w.Paths.Home), log) })
	defer writing.Wait()
	defer cancel()
	byHand := s.waits == nil
	if inherited == (daemon.Inherited{}) {
		v.takeBack(cmd.Context())
	} else {
		byHand = v.goOn(cmd.Context(), former)
	}
	d := v.daemon(cmd.Context())
	d.End = func() string {
		back := v.end(cmd.Context(), done)
		return said.String() + back
	}
	d.Upgrade, err = upgradeOf(door, b, v.mux, v.kept, byHand, running.EngineArguments(w.Paths.Engine))
	if err != nil {
		return errors.Join(err, door.Close())
	}
	if !byHand {
		d.Idle = w.Config.DaemonIdle()
	}
	_ = s.tell(nil)
	return cli.Fail("serve", d.Serve(cmd.Context(), door.UnixListener), "")
}

// daemonParts makes the parts of a daemon, with the container engine of the one before it if that has
// left agents there.
func daemonParts(ctx context.Context, flags *wiring.TabFlags) (wiring.Parts, error) {
	p, c, err := flags.Check(ctx)
	if err != nil {
		return wiring.Parts{}, err
	}
	if p.Engine, err = lastEngine(p); err != nil {
		return wiring.Parts{}, cli.Fail("start daemon", err, "")
	}
	return p.Wire(c, broker.Profile{})
}

// daemon returns the daemon that shows the views, but for how it ends and is upgraded.
func (v *views) daemon(ctx context.Context) *daemon.Daemon {
	tokens, err := token.Open(filepath.Join(v.parts.Paths.Home, "answer-tokens.json"))
	if err != nil {
		v.log.Error("no answer token is in force", "error", err)
	}
	program, build := cli.ThisFile()
	return &daemon.Daemon{
		Version: cli.ThisBuild().Version, Program: program, Build: build, Log: v.log,
		Show: v.show,
		Carry: func(ctx context.Context, t daemon.Task) wire.End {
			return start.Carry(ctx, v.parts.Latest(), t, v.broker)
		},
		Notify:   notifier(v.parts, v.broker, v.kept),
		Own:      pty.Own,
		Engine:   engineOf(v.broker),
		Calls:    v.broker,
		Attended: func(yes bool) { v.broker.SetAway(!yes) },
		Kicked:   v.broker.ForgetClient,
		Running:  func() string { return agentsRunning(ctx, v.broker) },
		Waiting: func() bool {
			waiting, _ := v.broker.Pending(ctx) // it never fails
			return len(waiting) > 0
		},
		StandDown: func() { standDown(v.parts.Paths.Home, v.log) },
		Tokens:    tokens, TokenSocket: daemon.TokenSocketPath(v.parts.Paths.Home),
	}
}

// engineOf returns a function that says which container engine the broker uses.
func engineOf(b *broker.Broker) func() wire.Engine {
	return func() wire.Engine {
		e, err := b.Engine()
		if err != nil {
			return wire.Engine{} // whoever opens a tab is told
		}
		return wire.Engine{Address: e.Address, Source: e.Source}
	}
}

// openDoor opens the socket for clients, or goes on with that of the program that this process was
// before. Then it returns what that one has handed over; nil: it cannot be read.
func openDoor(ctx context.Context, home string, inherited daemon.Inherited) (door *daemon.Door, former io.ReadCloser, err error) {
	if inherited == (daemon.Inherited{}) {
		door, err = daemon.Listen(ctx, home)
		return door, nil, err
	}
	reap()
	door, former, err = inherited.Take()
	if door != nil {
		return door, former, nil // goOn says that nothing can be read
	}
	return nil, nil, err
}

// agentsRunning says how many agents run; empty for none.
func agentsRunning(ctx context.Context, b *broker.Broker) string {
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
