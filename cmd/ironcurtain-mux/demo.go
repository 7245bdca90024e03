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
runs; with flags, open another one. The agent, its container, both proxies, the policy
and the tool servers are the real ones, and none of your keys is used. The model obeys
orders of one line: read PATH, write PATH TEXT, list PATH, push, push to REMOTE,
run COMMAND, say TEXT, and batch N, which makes N calls in one program if the agent
can run programs. The remotes origin and backup are on this machine.`,
		Example: "  ironcurtain-mux demo\n  ironcurtain-mux demo --agent shell",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return openMux(cmd, flags) },
	}
	flags.Register(cmd)
	return cmd
}
