package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// otherWords maps names that commands have in other programs to the names here.
var otherWords = map[string]string{
	"list": "ls", "ps": "ls", "status": "ls", "remove": "rm", "delete": "rm", "run": "start",
	"quit": "stop", "exit": "stop", "kill": "stop", "log": "audit", "logs": "audit",
	"update": "upgrade", "prune": "gc",
}

// unknownCommand returns an error that names what the person may have meant: a subcommand with that
// meaning or a similar name, or a subcommand of that name below another command.
func unknownCommand(cmd *cobra.Command, word string) error {
	meant := meantCommand(cmd, word)
	if meant == "" {
		meant = meantAgent(cmd, word)
	}
	return cli.Usagef("unknown command %q for %q%s", word, cmd.CommandPath(), meant)
}

func meantCommand(cmd *cobra.Command, word string) string {
	name := word
	if other := otherWords[word]; other != "" {
		name = other
	}
	var names, below []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		names = append(names, sub.Name())
		for _, s := range sub.Commands() {
			if s.Name() == name {
				below = append(below, sub.Name()+" "+name)
			}
		}
	}
	if slices.Contains(names, name) {
		return text.Meant([]string{name})
	}
	if len(below) > 0 {
		return text.Meant(below)
	}
	return text.DidYouMean(word, names)
}

// meantAgent proposes the flag --agent if the word names an agent and the command has the flag.
func meantAgent(cmd *cobra.Command, word string) string {
	if _, err := agent.Builtin().Named(word); err != nil || cmd.Flags().Lookup("agent") == nil {
		return ""
	}
	return text.Meant([]string{"--agent " + word})
}

// explainArguments makes a command name its arguments when it is given others. Cobra's own errors
// only count arguments.
func explainArguments(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var ours *cli.UsageError
		if err == nil || errors.As(err, &ours) {
			return err
		}
		_, takes, _ := strings.Cut(cmd.Use, " ")
		switch {
		case cmd.HasSubCommands():
			return unknownCommand(cmd, args[0])
		case takes == "":
			return cli.Usagef("it takes no argument, but there is %q%s", args[0], meantAgent(cmd, args[0]))
		case len(args) == 1 && len(cmd.ValidArgs) > 0:
			return cli.Usagef("%q is none of %s%s", args[0], strings.Trim(takes, "[]"), text.DidYouMean(args[0], words(cmd.ValidArgs)))
		}
		return cli.Usagef("write it as '%s %s'", cmd.CommandPath(), takes)
	}
}

// words are completions without their descriptions.
func words(completions []cobra.Completion) []string {
	all := make([]string, len(completions))
	for i, c := range completions {
		all[i], _, _ = strings.Cut(c, "\t")
	}
	return all
}
