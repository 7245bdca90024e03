package start

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// startFlags are the flags of start.
type startFlags struct {
	wiring.TabFlags
	output  string
	timeout time.Duration
	list    bool
}

// Command gives an agent tasks without opening the multiplexer.
func Command() *cobra.Command {
	var flags startFlags
	cmd := &cobra.Command{
		Use:   "start [TASK]",
		Short: "Give an agent one task, or several in turn, without the multiplexer",
		Long: `Give an agent one task and print its answer. The session is like one in a tab: the
same container, proxies, policy, audit and budget; only the agent runs without a
terminal. Calls that wait for a person are asked about here, or decided from
another terminal with 'ironcurtain-mux approve'.

Without TASK, tasks are read from standard input, one a line; /approve N, /deny N,
/budget, /logs and /quit are commands. Answers go to standard output, everything else to
standard error. A task that takes longer than --timeout, its container's start included,
is ended with everything that it has started, and so is start itself.

With --output json, each task is one object: text or failure, end (answered, failed,
timed-out, over-budget), tookMs, calls (server, tool, decision), decisions (who decided
calls that waited), filesChanged (outside of .git; filesMissed says what is not listed),
used, and the session's usage in all.

With autoApprove in config.json, what you type at the prompt is an order, and so is a TASK
that you type in a shell. What is pasted, piped in or started by a script is none.

` + startCodes,
		Example: `  ironcurtain-mux start --agent codex --workspace ~/src/project "explain the build"
  ironcurtain-mux start --repo git@github.com:me/project.git "why does the build fail?"
  ironcurtain-mux start --output json "list the open questions in notes.txt"
  ironcurtain-mux start --resume 6f1c "and now repair them"
  ironcurtain-mux start --demo "read hello.txt"`,
		RunE: func(cmd *cobra.Command, args []string) error { return start(cmd, &flags, strings.Join(args, " ")) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.Agent, "agent", "", "agent that gets the task (default from config.json)")
	f.StringVar(&flags.Workspace, "workspace", "", "directory it works in (default a fresh sandbox)")
	flags.Worktree.Register(cmd)
	f.StringVar(&flags.Resume, "resume", "", "continue that session; the beginning of its id is enough")
	f.StringVar(&flags.output, "output", "text", "text, or json: one object for each task")
	f.DurationVar(&flags.timeout, "timeout", 0, "how long a task may take, such as 10m (default no limit)")
	f.BoolVar(&flags.list, "list-agents", false, "list the agents that take tasks")
	f.BoolVar(&flags.Demo, "demo", false, "with a scripted model, which needs no key")
	flags.RegisterProfile(cmd)
	return cmd
}

// start checks the flags and carries out the task, or those that are read.
func start(cmd *cobra.Command, flags *startFlags, task string) error {
	if flags.output != "text" && flags.output != "json" {
		return cli.Usagef("--output is text or json, not %q", flags.output)
	}
	if flags.timeout < 0 {
		return cli.Usagef("--timeout is a duration such as 10m, not %s", flags.timeout)
	}
	if flags.list {
		return listAgents(cmd)
	}
	w, err := flags.CheckTab(cmd.Context())
	if err != nil {
		return err
	}
	agent := w.Config.Agent
	if flags.Demo {
		agent = wiring.DemoAgent
	}
	flags.Agent, flags.Workspace = cmp.Or(flags.Agent, agent), flags.DemoWorkspace(w.Paths.Home, flags.Workspace)
	return runTasks(w, cmd, flags, task)
}

// listAgents prints the agents that take tasks.
func listAgents(cmd *cobra.Command) error {
	_, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	agents, err := wiring.AgentsOf(c)
	if err != nil {
		return err
	}
	for _, a := range agents.All() {
		if a.Once != nil {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", cli.SafeName(a.Name), a.Title); err != nil {
				return err
			}
		}
	}
	return nil
}

// runTasks opens the session, carries out the tasks, and ends everything.
func runTasks(w wiring.Parts, cmd *cobra.Command, flags *startFlags, task string) error {
	b, done, err := openAlone(w, cmd, "start")
	if err != nil {
		return err
	}
	defer done()
	if err := errors.Join(b.CheckTurns(flags.Agent), b.CheckAgent(cmd.Context(), flags.Agent)); err != nil {
		return cli.Fail("start", err, "")
	}
	events, err := b.Subscribe(cmd.Context())
	if err != nil {
		return cli.Fail("start", err, "")
	}
	s, err := b.Open(cmd.Context(), broker.OpenRequest{
		Agent: flags.Agent, Workspace: flags.Workspace, Worktree: flags.Worktree.Choice(), Repo: flags.Worktree.Repo, Branch: flags.Worktree.Branch,
		Profile: flags.Profile(), Resume: flags.Resume, Cols: 80, Rows: 24, Idle: true,
	})
	if err != nil {
		return cli.Fail("start", err, "")
	}
	c := &conversation{
		broker: b, session: s, client: running.ClientAt(cmd.InOrStdin()), home: w.Paths.Home, events: events,
		out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr(), asJSON: flags.output == "json", limit: flags.timeout,
		waiting: map[int]shownCall{},
	}
	in, screen := cli.TerminalIn(cmd.InOrStdin()), cli.TerminalIn(c.notes)
	c.person, c.terminal = in != nil, cli.TerminalIn(c.out) != nil
	given := typedLine{text: task, at: time.Now()}
	if in != nil && screen != nil {
		c.prompt = openPromptLine(in, screen, input.Choice{CommandKey: w.Config.CommandKey, Prefix: w.Config.Prefix, Keys: w.Config.Keys})
	}
	switch {
	case c.prompt != nil:
		given.spans = typedInShell(in, task)
		var done func()
		c.lines, done = c.prompt.read(cmd.Context())
		c.unread = func() error { return nil }
		defer done()
		c.notes = c.prompt.above(c.notes)
		if c.terminal {
			c.out = c.prompt.above(c.out)
		}
	case task == "" || c.person:
		c.lines, c.unread = readLines(cmd.Context(), cmd.InOrStdin())
	}
	return cli.Fail("start", c.run(cmd.Context(), given), "")
}

// openAlone opens the multiplexer in a process that is no daemon. Other commands can ask it, too.
func openAlone(w wiring.Parts, cmd *cobra.Command, op string) (b *broker.Broker, done func(), err error) {
	b, log, end, err := w.Open(cmd)
	if err != nil {
		return nil, nil, err
	}
	stop, err := running.ServeCalls(cmd.Context(), w.Paths.Home, b, log)
	if err != nil {
		end()
		return nil, nil, cli.Fail(op, err, "")
	}
	return b, func() { stop(); end() }, nil
}

// typedInShell returns the spans of a task that a person typed in a shell at that terminal,
// and nil for any other. An interactive shell makes a command a job of its own, in the
// terminal's foreground; a program that a script or a build starts is part of the script's
// job. A text of several lines is rather the content of a file.
func typedInShell(terminal *os.File, task string) []receipt.Span {
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	session, failed := unix.Getsid(0)
	shells, without := unix.Getsid(os.Getppid())
	self := os.Getpid()
	switch {
	case errors.Join(err, failed, without) != nil || task == "" || strings.ContainsAny(task, "\r\n"):
	case self == unix.Getpgrp() && self == foreground && self != session && session == shells:
		return []receipt.Span{{Start: 0, End: len(task)}}
	}
	return nil
}
