package main

import (
	"context"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/complete"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/decisions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/doctor"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/images"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/policies"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/proxies"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/registries"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/toolservers"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// run executes one command line and returns the exit code. It never calls
// os.Exit and writes only to the given streams. A command line for another machine
// replaces the process by ssh.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if host, rest, ok := hostOf(args); ok {
		return cli.Report(stderr, overSSH(host, rest, stdin, stdout), false)
	}
	if err := daemon.KeepInherited(); err != nil {
		return cli.Report(stderr, err, false)
	}
	warnOtherVersion(stderr)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	began := false
	watchStart(root, &began)
	cmd, err := root.ExecuteContextC(ctx)
	err = cli.AsInterrupt(ctx, asUsage(cmd, err, began))
	asJSON := false
	if cmd != nil {
		if f := cmd.Flags().Lookup("json"); f != nil {
			asJSON = f.Value.String() == "true"
		}
	}
	return cli.Report(stderr, err, asJSON)
}

// rootCommand builds the whole command tree.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ironcurtain-mux",
		Short: "A terminal multiplexer for coding agents that are not trusted",
		Long: `A terminal multiplexer for coding agents that are not trusted. Each tab is a real
agent in a container without network, capabilities or credentials. A policy judges
each call of the agent, and calls that it does not decide wait for you: press Ctrl-A,
read what would happen, and type /approve or /deny. /help explains the rest.

With --host NAME as the first argument, the command runs on another machine, over ssh. NAME
and all options of ssh come from your ssh configuration. Without a terminal, input and output
are passed unchanged. Your IRONCURTAIN_HOME is not passed on: the other machine uses its own,
from the environment of ssh commands there, or else ~/.ironcurtain.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  ironcurtain-mux demo                              # try it, without any key
  ironcurtain-mux                                   # a tab with the agent of config.json
  ironcurtain-mux --agent codex --workspace ~/src/project
  ironcurtain-mux --engine colima demo              # with the engine of a docker context
  ironcurtain-mux --host workstation                # what runs on another machine, over ssh
  ironcurtain-mux doctor                            # what is missing on this machine`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		Version: cli.ThisBuild().Version,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(wrongFlag)
	muxCommand(root)
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID(lastGroup)
	root.AddCommand(manCommand()) // hidden
	strictHelp(root)
	complete.Add(root)
	return root
}

// group are the commands that the help lists below one title.
type group struct {
	title    string
	commands []*cobra.Command
}

// lastGroup is the title of the last group, which also has the command help.
const lastGroup = "About the program:"

// groups returns all subcommands that people use.
func groups() []group {
	return []group{
		{"Running agents:", []*cobra.Command{
			attachCommand(), clientsCommand(), demoCommand(), hereCommand(), images.Command(), reloadCommand(), serveCommand(), sessions.Command(resumeCommand()), start.Command(), stopCommand(), upgradeCommand(),
		}},
		{"Calls that wait, and calls that were made:", []*cobra.Command{
			decisions.ApproveCommand(), decisions.AuditCommand(), decisions.DenyCommand(), decisions.PendingCommand(), decisions.RevokeCommand(), decisions.GrantsCommand(), decisions.TokensCommand(),
		}},
		{"What agents may do:", []*cobra.Command{policies.Command(proxies.AnnotateCommand()), proxies.Command()}},
		{"This machine:", []*cobra.Command{configCommand(), doctor.Command(), gcCommand(), registries.Command(), toolservers.Command()}},
		{lastGroup, []*cobra.Command{completionCommand(), keysCommand(), screenCommand(), versionCommand()}},
	}
}
