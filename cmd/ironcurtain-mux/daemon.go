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

// serveCommand runs the daemon in the foreground. Its subcommand is the program's own MCP server,
// which the tool proxy starts in a sandbox.
func serveCommand() *cobra.Command {
	var started, check bool
	var unit string
	var inherited daemon.Inherited
	var flags wiring.TabFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon of the multiplexer in the foreground",
		Long: `Run the daemon of the multiplexer in the foreground, until /quit or 'ironcurtain-mux
stop' ends it with its agents. This is for service managers: 'ironcurtain-mux' itself
starts the daemon when none runs. There is one daemon for each IRONCURTAIN_HOME. It has
the environment of this command, and continues when the terminal is closed.

--print-unit only prints a unit with which a service manager starts the daemon when you
log in, and again when it has failed. Stop a running daemon before you enable the unit.
For systemd, put it into ~/.config/systemd/user/ironcurtain-mux.service and run
'systemctl --user enable --now ironcurtain-mux'; with 'loginctl enable-linger' it starts
with the machine and continues after you log out. For launchd, put it into
~/Library/LaunchAgents/ironcurtain-mux.plist and run 'launchctl bootstrap gui/$(id -u)'
with that file. The daemon then has the manager's environment: with systemd,
'systemctl --user import-environment PATH' gives it your PATH. The unit contains
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
			return s.report(serve(cmd, s, &flags, inherited))
		},
	}
	flags.Engine.Register(cmd)
	cmd.Flags().BoolVar(&check, checkFlag, false, "report as JSON whether it could serve")
	_ = cmd.Flags().MarkHidden(checkFlag) // the flag exists
	cmd.Flags().Var(&inherited, inheritFlag, "continue with the descriptors that the former program of this process has left open")
	_ = cmd.Flags().MarkHidden(inheritFlag) // the flag exists
	cmd.Flags().BoolVar(&started, running.StartedFlag, false, "report to the client that has started the daemon")
	cmd.Flags().StringVar(&unit, "print-unit", "", "print a unit for a service `manager`, systemd or launchd, and do nothing else")
	_ = cmd.Flags().MarkHidden(running.StartedFlag) // the flag exists
	cmd.AddCommand(serveFetchCommand())
	return cmd
}

// inheritFlag makes serve continue the daemon that this process was before an upgrade.
const inheritFlag = "inherited"

// starter is the client that has started this daemon. waits is nil if a person has started it, and
// after the report.
type starter struct{ waits *os.File }

// startedBy returns the client that reads from a descriptor.
func startedBy(fd int) *starter {
	syscall.CloseOnExec(fd)
	return &starter{os.NewFile(uintptr(fd), "starter")}
}

// report tells the client that the daemon serves, or why it does not, and returns err. Only the
// first call reports.
func (s *starter) report(err error) error {
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

// serve runs the daemon until somebody ends it. A daemon that a client has started also ends when
// it has been idle for Config.DaemonIdle.
func serve(cmd *cobra.Command, s *starter, flags *wiring.TabFlags, inherited daemon.Inherited) error {
	const op = "start daemon"
	signal.Ignore(syscall.SIGHUP) // sent when the terminal that started the daemon is closed
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
	var said bytes.Buffer // what is printed while the daemon ends, for the client that has ended it
	cmd.SetErr(io.MultiWriter(cmd.ErrOrStderr(), &said))
	b, log, done, err := w.Open(cmd)
	if err != nil {
		return errors.Join(err, door.Close())
	}
	if err := noteEngine(w.Paths); err != nil {
		log.Error("the engine's name cannot be written: after a crash, the next daemon may look for the agents in another engine", "error", err)
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
		byHand = v.continueFrom(cmd.Context(), former)
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
	_ = s.report(nil)
	return cli.Fail("serve", d.Serve(cmd.Context(), door.UnixListener), "")
}

// daemonParts makes the parts of a daemon. If the former daemon has left agents, the new one uses
// the same container engine.
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

// daemon returns the daemon that shows the views. The caller sets how it ends and is upgraded.
func (v *views) daemon(ctx context.Context) *daemon.Daemon {
	tokens, err := token.Open(filepath.Join(v.parts.Paths.Home, "answer-tokens.json"))
	if err != nil {
		v.log.Error("answer tokens cannot be used", "error", err)
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

// engineOf returns a function that returns the container engine of the broker.
func engineOf(b *broker.Broker) func() wire.Engine {
	return func() wire.Engine {
		e, err := b.Engine()
		if err != nil {
			return wire.Engine{} // opening a tab reports the error
		}
		return wire.Engine{Address: e.Address, Source: e.Source}
	}
}

// openDoor opens the socket for clients. After an upgrade it continues with the socket of the
// former program, and returns what that program has handed over; nil: it cannot be read.
func openDoor(ctx context.Context, home string, inherited daemon.Inherited) (door *daemon.Door, former io.ReadCloser, err error) {
	if inherited == (daemon.Inherited{}) {
		door, err = daemon.Listen(ctx, home)
		return door, nil, err
	}
	reap()
	door, former, err = inherited.Take()
	if door != nil {
		return door, former, nil // continueFrom reports if nothing can be read
	}
	return nil, nil, err
}

// agentsRunning describes how many agents run; empty for none.
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
