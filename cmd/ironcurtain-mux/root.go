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

// asInterrupt names the true cause of work that failed because a signal ended
// the program.
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
		Use:           "ironcurtain-mux",
		Short:         "A terminal multiplexer for coding agents that are not trusted",
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  ironcurtain-mux
  ironcurtain-mux --workspace ~/src/project
  ironcurtain-mux demo`,
		Args:    cobra.NoArgs,
		Version: thisBuild().Version,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usagef("%w", err)
	})
	muxCommand(root)
	root.AddCommand(commands()...)
	return root
}

// commands lists every subcommand; each lives in the file of its name.
func commands() []*cobra.Command {
	return []*cobra.Command{
		approveCommand(),
		auditCommand(),
		bridgeCommand(),
		completionCommand(),
		configCommand(),
		demoCommand(),
		denyCommand(),
		doctorCommand(),
		gcCommand(),
		imagesCommand(),
		keysCommand(),
		manCommand(),
		pendingCommand(),
		policyCommand(),
		proxyCommand(),
		revokeCommand(),
		rulesCommand(),
		screenCommand(),
		serveCommand(),
		sessionsCommand(),
		startCommand(),
		versionCommand(),
	}
}
