package main

import "github.com/spf13/cobra"

// proxyCommand groups the two proxies, which can stand alone.
func proxyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "proxy",
		Short:   "Run one of the proxies alone, for any other agent",
		Example: "  ironcurtain-mux proxy mitm --socket /run/user/1000/mitm.sock --provider anthropic --state ./state --audit ./audit.jsonl",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(proxyMCPCommand(), proxyMITMCommand())
	return cmd
}
