package main

import (
	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// demoCommand opens a tab with a scripted model in place of the provider; everything else is
// real.
func demoCommand() *cobra.Command {
	flags := wiring.TabFlags{Demo: true}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Open a tab with a scripted model; needs no key",
		Long: `Open a tab with a scripted model in place of the provider, or show the one that
runs: with flags, another one is opened. The agent, its container, both proxies, the
policy and the tool servers are the real ones; no key of yours is used. The model takes
orders of one line: read PATH, write PATH TEXT, list PATH, push, push to REMOTE,
run COMMAND, say TEXT, and batch N for N calls in one program, where the agent is
offered programs. The remotes origin and backup are on this machine.`,
		Example: "  ironcurtain-mux demo\n  ironcurtain-mux demo --agent shell",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return openMux(cmd, flags) },
	}
	flags.Register(cmd)
	return cmd
}
