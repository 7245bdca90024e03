package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// watchStart makes every command of the tree set began when its own code begins. An error
// of cobra before that is a wrong command line: an unknown command, missing arguments,
// flags that exclude each other.
func watchStart(cmd *cobra.Command, began *bool) {
	explainArguments(cmd)
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*began = true
			return work(cmd, args)
		}
	}
	if cmd.RunE == nil && cmd.Run == nil && cmd.HasSubCommands() {
		// For a command that only groups others, cobra would take any word as an
		// argument, print the help, and exit with 0.
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		}
	}
	for _, sub := range cmd.Commands() {
		watchStart(sub, began)
	}
}

// wrongFlag returns the error for a flag that is unknown or wrongly written. For an unknown flag, it
// names the command of that name, or flags with a similar one.
func wrongFlag(cmd *cobra.Command, err error) error {
	var named interface{ GetSpecifiedName() string } // of an error of pflag
	if errors.As(err, &named) && named.GetSpecifiedName() == hostFlag {
		return errHostPlace
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return cli.Usagef("%w", err)
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() == unknown.GetSpecifiedName() {
			return cli.Usagef("%w%s", err, text.Meant([]string{sub.CommandPath()}))
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return cli.Usagef("%w%s", err, text.DidYouMean("--"+unknown.GetSpecifiedName(), names))
}

// strictHelp makes the command help refuse unknown commands. Cobra's own help command shows the
// help of the whole program for them.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Example = "  ironcurtain-mux help proxy mcp"
		cmd.Run = nil
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			if err != nil {
				return cli.Usagef("%w", err)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		}
	}
}

// asUsage adds the command to a usage error and, if the error has no hint, a hint to the help. An
// error before the command's own code began is a usage error as well.
func asUsage(cmd *cobra.Command, err error, began bool) error {
	var u *cli.UsageError
	if err == nil || cmd == nil || !errors.As(err, &u) && began {
		return err
	}
	op := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if !cmd.HasParent() {
		op = "command line"
	}
	hint := ""
	if !strings.HasSuffix(err.Error(), ")") {
		hint = "see '" + cmd.CommandPath() + " --help'"
	}
	return &cli.UsageError{Err: cli.Fail(op, err, hint)}
}
