package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// policyAnnotateCommand drafts the annotations of a server.
func policyAnnotateCommand() *cobra.Command {
	var f mcpFlags
	var name string
	cmd := &cobra.Command{
		Use:   "annotate",
		Short: "Draft the annotations of a server's tools, for review",
		Long: `Start one server of an mcp-servers.json in its sandbox, list its tools without
calling any, and print annotations for them. Roles are guessed from names and
types; what cannot be guessed gets a role that a rule must cover before a call
passes, and is named on standard error. Annotations are trusted: review each line.`,
		Example: "  ironcurtain-mux policy annotate --servers mcp-servers.json --server notes --sandbox ~/project > tool-annotations.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.annotate(cmd.Context(), name, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.servers, "servers", "", "`file` that names the MCP servers")
	fl.StringVar(&name, "server", "", "the server to annotate")
	fl.StringVar(&f.sandbox, "sandbox", "", "the session's directory on this machine")
	fl.StringVar(&f.sandboxPolicy, "sandbox-policy", defaultSandboxPolicy(), "without a sandbox: enforce (do not start) or warn")
	for _, required := range []string{"servers", "server", "sandbox"} {
		_ = cmd.MarkFlagRequired(required)
	}
	return cmd
}

func (f *mcpFlags) annotate(ctx context.Context, name string, stdout, stderr io.Writer) (err error) {
	const op = "annotate"
	at, err := findPaths()
	if err != nil {
		return err
	}
	all, err := servers.Load(f.servers)
	if err != nil {
		return fail("read servers", err, "")
	}
	one, ok := all[name]
	if !ok {
		return fail(op, fmt.Errorf("%s names no server %q", f.servers, name), "choose one of its servers with --server")
	}
	configs := map[string]servers.Config{name: one}
	f.maxCall = 1 // nothing is judged
	engine, err := f.engine(op)
	if err != nil {
		return err
	}
	host, err := f.confine(ctx, at, configs, stderr)
	if err != nil {
		return fail("prepare the sandbox", err, "")
	}
	defer func() { err = errors.Join(err, fail("remove the sandbox", host.Close(), "")) }()
	p, err := mcpproxy.New(mcpproxy.Config{
		Session: "annotate", Engine: engine, Servers: f.specs(configs), Sandbox: host, Audit: audit.Discard{}, Secrets: secretsOf(configs),
	})
	if err != nil {
		return fail(op, err, "")
	}
	if err := p.Start(ctx); err != nil {
		return fail(op, err, "")
	}
	tools := p.Definitions(name)
	if err := p.Close(ctx); err != nil {
		return fail(op, err, "")
	}
	text, doubts, err := policy.Draft(name, tools, time.Now())
	if err != nil {
		return fail(op, err, "write the annotations of this server by hand")
	}
	for _, d := range doubts {
		fmt.Fprintln(stderr, "ironcurtain-mux: decide what it means: "+d)
	}
	_, err = stdout.Write(text)
	return fail(op, err, "")
}
