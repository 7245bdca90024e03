package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// shells maps each shell to the function that writes its completion script.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash": func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"fish": func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"zsh":  func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
}

// shellNames are the shells in the order of the help text.
var shellNames = []string{"bash", "zsh", "fish"}

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh or fish",
		Long: `Print a script with which a shell completes the commands and flags of ironcurtain-mux
when you press Tab. bash also needs the package bash-completion.`,
		Example: `  source <(ironcurtain-mux completion bash)
  ironcurtain-mux completion zsh > "${fpath[1]}/_ironcurtain-mux"
  ironcurtain-mux completion fish > ~/.config/fish/completions/ironcurtain-mux.fish`,
		Args:      oneShell,
		ValidArgs: shellNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Fail("print the completion script", shells[args[0]](cmd.Root(), cmd.OutOrStdout()), "")
		},
	}
}

// oneShell accepts one argument: a shell that has a completion script.
func oneShell(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("name one shell: %s", strings.Join(shellNames, ", "))
	}
	if _, ok := shells[args[0]]; !ok {
		return cli.Usagef("there is no completion for %q, only for %s", args[0], strings.Join(shellNames, ", "))
	}
	return nil
}
