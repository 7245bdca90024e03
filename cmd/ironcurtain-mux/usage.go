package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// watchStart makes every command of the tree tell when its own code begins.
// What fails before that, wherever in cobra it does, is a wrong command line:
// unknown commands, missing arguments, flags that exclude each other.
func watchStart(cmd *cobra.Command, began *bool) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*began = true
			return work(cmd, args)
		}
	}
	if cmd.RunE == nil && cmd.Run == nil && cmd.HasSubCommands() {
		// A command that only groups others: cobra would take any word after
		// it for an argument and print the help as if all were well.
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for %q (see '%s --help')", args[0], cmd.CommandPath(), cmd.CommandPath())
			}
			return cmd.Help()
		}
	}
	for _, sub := range cmd.Commands() {
		watchStart(sub, began)
	}
}

// asUsage turns an error from before a command's start into a usage error that
// points to the help.
func asUsage(cmd *cobra.Command, err error, began bool) error {
	var u *usageError
	if err == nil || began || cmd == nil || errors.As(err, &u) {
		return err
	}
	return usagef("%w (see '%s --help')", err, cmd.CommandPath())
}
