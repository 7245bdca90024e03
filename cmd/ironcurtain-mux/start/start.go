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

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// startFlags are the flags of start.
type startFlags struct {
	wiring.TabFlags
	output  string
	timeout time.Duration
	list    bool
	detach  bool
}

// Command gives an agent tasks without opening the multiplexer.
func Command() *cobra.Command {
	var flags startFlags
	cmd := &cobra.Command{
		Use:   "start [TASK]",
		Short: "Give an agent one task, or several in turn, without the full screen",
		Long: `Give an agent one task and print its answer. The session is like one in a tab, with the
same proxies, policy, audit and budget; only the agent runs without a terminal. The
built-in agent gets the task unless --agent names another one; it can do what the tools
can, and has no shell. You are asked here about calls that wait, or decide them from
another terminal with 'ironcurtain-mux approve'.

Without TASK, tasks are read from standard input, one a line. Decide calls there with
/approve N and /deny N; /help lists the other commands. Answers go to standard output,
everything else to standard error. A task that takes longer than --timeout, including the
start of its container, is ended with everything that it has started, and start ends, too.

If an agent is a plain command and fails, its output until then is printed.

With --output json, each task is one object: text, failure, end (answered, failed,
timed-out, over-budget), tookMs, calls (server, tool, decision), decisions (who decided
waiting calls), filesChanged (outside of .git; filesMissed says which are not listed),
used, and the usage of the whole session. The built-in agent adds events with names of its
own: agent_text, tool_call, step_finish, loop_detection, message_compaction. For every
agent the host adds the events budget_warning, when four fifths of a limit are used, and
budget_exhausted.

With autoApprove in config.json, text that you type at the prompt is an order, and so is a
TASK that you type in a shell. Text that is pasted, piped in or given by a script is not.

The daemon of the multiplexer runs the task; it is started if none runs. Ctrl-C ends the
task; at the prompt it interrupts the task, and pressed again it ends the session. If the
terminal is closed or lost, the task continues to its end, and its answer is kept in the
session: 'ironcurtain-mux sessions show' names the file.

` + startCodes,
		Example: `  ironcurtain-mux start --workspace ~/notes "which of these are still open?"
  ironcurtain-mux start --agent codex --workspace ~/src/project "explain the build"
  ironcurtain-mux start --repo git@github.com:me/project.git "why does the build fail?"
  ironcurtain-mux start --output json "list the open questions in notes.txt"
  ironcurtain-mux start --resume 6f1c "and now repair them"
  ironcurtain-mux start --detach "update the dependencies, and test"
  ironcurtain-mux start --demo "read hello.txt"`,
		RunE: func(cmd *cobra.Command, args []string) error { return start(cmd, &flags, strings.Join(args, " ")) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.Agent, "agent", "", "agent that gets the task (default startAgent in config.json: builtin, if there is an API key for it)")
	f.StringVar(&flags.Workspace, "workspace", "", "directory that the agent works in (default a fresh sandbox)")
	flags.Worktree.Register(cmd)
	flags.Engine.Register(cmd)
	f.StringVar(&flags.Resume, "resume", "", "continue that session; the beginning of its id is enough")
	f.StringVar(&flags.output, "output", "text", "text, or json: one object for each task")
	f.Var(timespan.Flag{To: &flags.timeout}, "timeout", "how long a task may take, such as 10m or 2h (default no limit)")
	f.BoolVar(&flags.detach, "detach", false, "print the session's id and return; the task continues, and 'stop ID' ends it")
	f.BoolVar(&flags.list, "list-agents", false, "list the agents that take tasks")
	f.BoolVar(&flags.Demo, "demo", false, "use a scripted model, which needs no key")
	flags.RegisterProfile(cmd)
	return cmd
}

// start checks the flags and runs the task, or the tasks that are read.
func start(cmd *cobra.Command, flags *startFlags, task string) error {
	if flags.output != "text" && flags.output != "json" {
		return cli.Usagef("--output is text or json, not %q", flags.output)
	}
	if flags.list {
		return listAgents(cmd)
	}
	if flags.detach && (task == "" || flags.output != "text") {
		return cli.Usagef("--detach prints only the id of the session: give a TASK, and leave --output out")
	}
	flags.Task = true
	if _, err := flags.CheckTab(cmd.Context()); err != nil {
		return err
	}
	if flags.Instead != "" {
		cmd.PrintErrln(flags.Instead)
	}
	return flags.giveTask(cmd, task)
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
	var rows [][]string
	for _, a := range agents.All() {
		if a.TakesTasks() {
			rows = append(rows, []string{cli.SafeName(a.Name), cli.SafeText(a.Title)})
		}
	}
	return cli.PrintTable(cmd.OutOrStdout(), []string{"AGENT", "TITLE"}, rows)
}

// giveTask lets the daemon run the task, or the tasks that are read, on the standard streams of
// this process. It starts the daemon if none runs.
func (f *startFlags) giveTask(cmd *cobra.Command, task string) error {
	const op = "start"
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	errs, okErr := cmd.ErrOrStderr().(*os.File)
	if !okIn || !okOut || !okErr {
		return cli.Fail(op, errors.New("the standard streams are not files"), "")
	}
	p, o, err := running.ClientOptions()
	if err == nil {
		o.Engine, err = f.Engine.In(p).Demand()
	}
	if err != nil {
		return cli.Fail(op, err, "")
	}
	o.Variables = p.DaemonVariables(f.Servers)
	asked := wire.Task{
		Open: *f.Tab(), Text: task, JSON: f.output == "json", Limit: f.timeout, Detach: f.detach,
		Typed: typedInShell(in, task), Keys: p.KeysHere(),
	}
	var end wire.End
	for range 3 { // the daemon may end between the two calls
		if _, err := running.StartDaemon(cmd, o); err != nil {
			return err
		}
		if end, err = client.Carry(cmd.Context(), o, asked, in, out, errs); !errors.Is(err, client.ErrNoDaemon) {
			break
		}
	}
	if err != nil {
		return cli.Fail(op, err, "")
	}
	fmt.Fprint(cmd.ErrOrStderr(), end.Said)
	return endError(op, end)
}

// endError returns the error with which a task has ended in the daemon; nil: none.
func endError(op string, end wire.End) error {
	if !end.Failed {
		return nil
	}
	err := &cli.Failure{Op: cmp.Or(end.Op, op), Err: errors.New(end.Reason), Next: end.Next}
	return &cli.CodedError{Err: err, Code: cmp.Or(end.Code, cli.ExitFailure)}
}

// typedInShell reports whether a person typed a task in a shell at a terminal, for a daemon that
// cannot find this out from its kernel. An interactive shell makes each command a job of its own, in
// the terminal's foreground; a program that a script or a build starts is part of the script's job.
func typedInShell(in *os.File, task string) bool {
	foreground, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP)
	session, failed := unix.Getsid(0)
	shells, without := unix.Getsid(os.Getppid())
	self := os.Getpid()
	return errors.Join(err, failed, without) == nil && task != "" &&
		self == unix.Getpgrp() && self == foreground && self != session && session == shells
}
