package main

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// run executes one command line and returns the exit code. It never calls
// os.Exit and writes only to the given streams.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
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
	err = asInterrupt(ctx, asUsage(cmd, err, began))
	asJSON := false
	if cmd != nil {
		if f := cmd.Flags().Lookup("json"); f != nil {
			asJSON = f.Value.String() == "true"
		}
	}
	return report(stderr, err, asJSON)
}

// asInterrupt replaces the error of work that failed because of a signal by the signal.
func asInterrupt(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	op := "run"
	var f *failure
	if errors.As(err, &f) {
		op = f.op
	}
	return &failure{op: op, err: errors.New("interrupted by a signal"), hint: "run it again"}
}

// rootCommand builds the whole command tree.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ironcurtain-mux",
		Short: "A terminal multiplexer for coding agents that are not trusted",
		Long: `A terminal multiplexer for coding agents that are not trusted. Each tab is a real
agent in a container without network, capabilities or credentials. A policy judges
what the agent asks for, and what it leaves open waits for you: press Ctrl-A, read
what would happen, and type /approve or /deny. /help there tells the rest.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  ironcurtain-mux demo                              # try it, without any key
  ironcurtain-mux                                   # a tab with the agent of config.json
  ironcurtain-mux --agent codex --workspace ~/src/project
  ironcurtain-mux doctor                            # what is missing on this machine`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		Version: thisBuild().Version,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usagef("%w", err)
	})
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
	return root
}

// group is the commands that the help lists below one title.
type group struct {
	title    string
	commands []*cobra.Command
}

// lastGroup is the title of the last group, which also has the command help.
const lastGroup = "About the program:"

// groups returns all subcommands that people use. Each is in the file of its name.
func groups() []group {
	return []group{
		{"Running agents:", []*cobra.Command{
			attachCommand(), clientsCommand(), demoCommand(), imagesCommand(), serveCommand(), sessionsCommand(resumeCommand()), startCommand(), stopCommand(),
		}},
		{"Calls that wait, and calls that were made:", []*cobra.Command{
			approveCommand(), auditCommand(), denyCommand(), pendingCommand(), revokeCommand(), grantsCommand(),
		}},
		{"What agents may do:", []*cobra.Command{policyCommand(policyAnnotateCommand()), proxyCommand()}},
		{"This machine:", []*cobra.Command{configCommand(), doctorCommand(), gcCommand(), serversCommand()}},
		{lastGroup, []*cobra.Command{completionCommand(), keysCommand(), screenCommand(), versionCommand()}},
	}
}
