package proxies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/policies"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// mcpFlags are the flags of "proxy mcp".
type mcpFlags struct {
	policies.Flags
	servers, socket, audit     string
	escalations, sandboxPolicy string
	tcp, tokenFile, codeMode   string
	stdio, noSync, tcpRemote   bool
	repeats                    int
}

// proxyMCPCommand runs the policy proxy between an agent and MCP servers.
func proxyMCPCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP tools to an agent, each call judged by a policy",
		Long: `Start the servers of an mcp-servers.json, each in its sandbox, and serve their
tools as one MCP server on a Unix socket, on standard input and output, or on a
TCP port, where a client begins with the line "Bearer TOKEN". Every call is judged.
It is forwarded exactly as it was judged, after its record is in the audit log. When
the log has reached 1 GiB, all calls are refused until the proxy is started with
another log.

On SIGUSR1 the policy, the annotations and the lists are read again; if they
cannot be loaded, the error is printed and the old ones stay in force.

When the proxy is ready, the command prints one JSON line, on standard output or,
with --stdio, on standard error.`,
		Example: `  ironcurtain-mux proxy mcp --servers mcp-servers.json --policy ./policy \
    --annotations tool-annotations.json --sandbox ~/project --socket /tmp/mcp.sock --audit ./audit.jsonl
  ironcurtain-mux proxy mcp --servers mcp-servers.json --sandbox ~/project --stdio \
    --audit ./audit.jsonl --escalations ./escalations
  ironcurtain-mux proxy mcp --servers mcp-servers.json --sandbox ~/project --tcp 127.0.0.1:7777 \
    --token-file ~/.mcp-token --audit ./audit.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMCP(cmd.Context(), &f, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.Register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.servers, "servers", "", "`file` that names the MCP servers")
	fl.StringVar(&f.socket, "socket", "", "`path` of the Unix socket to serve")
	fl.BoolVar(&f.stdio, "stdio", false, "serve on standard input and output")
	fl.StringVar(&f.tcp, "tcp", "", "`address` of the TCP port to serve, such as 127.0.0.1:7777; port 0 means any free port")
	fl.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of TCP clients; made if it is missing")
	fl.BoolVar(&f.tcpRemote, "tcp-remote", false, "let --tcp name an address that other machines reach; nothing is encrypted")
	fl.StringVar(&f.audit, "audit", "", "`file` of the audit log")
	fl.StringVar(&f.escalations, "escalations", "deny", "who decides what the policy escalates: deny, prompt (at the terminal) or a `directory` of request and response files")
	fl.StringVar(&f.sandboxPolicy, "sandbox-policy", defaultSandboxPolicy(), "if no sandbox can be made: enforce (do not start) or warn")
	fl.StringVar(&f.codeMode, "code-mode", string(codemode.Off), "whether clients can run programs that call the tools: off, beside (calling them one by one) or only")
	fl.BoolVar(&f.noSync, "no-sync", false, "do not wait until audit records are on the disk")
	fl.IntVar(&f.repeats, "repeat-limit", 0, "equal calls a minute before they are denied; 0: no limit")
	_ = cmd.MarkFlagRequired("servers")
	_ = cmd.MarkFlagRequired("audit")
	cmd.MarkFlagsMutuallyExclusive("socket", "stdio", "tcp")
	cmd.MarkFlagsOneRequired("socket", "stdio", "tcp")
	cmd.MarkFlagsRequiredTogether("tcp", "token-file")
	return cmd
}

// defaultSandboxPolicy is "warn" on systems without a sandbox, and "enforce" elsewhere.
func defaultSandboxPolicy() string {
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		return string(sandbox.Enforce)
	}
	return string(sandbox.Warn)
}

// runMCP serves until the context ends or, on standard input, the input does.
func runMCP(ctx context.Context, f *mcpFlags, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	const op = "serve the tool proxy"
	if f.sandboxPolicy != string(sandbox.Enforce) && f.sandboxPolicy != string(sandbox.Warn) {
		return cli.Usagef("--sandbox-policy %q is neither enforce nor warn", f.sandboxPolicy)
	}
	programs, err := f.programs()
	if err != nil {
		return err
	}
	at, err := wiring.FindPaths()
	if err != nil {
		return err
	}
	configs, err := servers.Load(f.servers)
	if err != nil {
		return cli.Fail("read servers", err, "")
	}
	engine, err := f.judge(at, configs)
	if err != nil {
		return err
	}
	log, err := audit.Open(f.audit, audit.Options{NoSync: f.noSync, Secrets: secretsOf(configs), State: func(err error) {
		if err != nil {
			cli.Report(stderr, fmt.Errorf("calls are refused: %w", err), false)
		}
	}})
	if err != nil {
		return cli.Fail("open the audit log", err, "")
	}
	defer func() { err = errors.Join(err, cli.Fail("close the audit log", log.Close(), "")) }()
	host, err := f.confine(ctx, at, configs, stderr)
	if err != nil {
		return cli.Fail("prepare the sandbox", err, "")
	}
	defer func() { err = errors.Join(err, cli.Fail("remove the sandbox", host.Close(), "")) }()
	asking, err := f.handler(ctx, stderr)
	if err != nil {
		return err
	}
	defer asking.stop()
	p, err := mcpproxy.New(mcpproxy.Config{
		Session: "proxy", Engine: engine, Servers: f.specs(at, configs), Sandbox: host, Approvals: asking.queue,
		Preview: &preview.Previewer{UserHome: at.UserHome, Known: preview.KnownHosts, Command: func(server, tool string) string { return engine.Behavior(server, tool).Command }},
		Audit:   log, Secrets: secretsOf(configs), Limits: mcpproxy.Limits{Repeats: f.repeats},
		Programs: programs, OnlyPrograms: f.codeMode == string(codemode.Only),
		Widen: "list it in sandbox.filesystem.allowWrite of the server in " + filepath.Base(f.servers),
	})
	if err != nil {
		return cli.Fail(op, err, "")
	}
	if err := p.Start(ctx); err != nil {
		return cli.Fail(op, err, "")
	}
	defer f.reloadOnSignal(func() (*policy.Engine, error) { return f.judge(at, configs) }, p, stderr)()
	return cli.Fail(op, f.serve(ctx, p, stdin, stdout, stderr), "")
}

// programs returns what runs the clients' programs, or nil if they have none.
func (f *mcpFlags) programs() (*codemode.Runner, error) {
	switch codemode.Mode(f.codeMode) {
	case codemode.Off:
		return nil, nil
	case codemode.Beside, codemode.Only:
		program, err := codemode.Find()
		return codemode.NewRunner(program, "", codemode.Limits{}), cli.Fail("serve the tool proxy", err, "")
	}
	return nil, cli.Usagef("--code-mode %q is none of off, beside and only", f.codeMode)
}

// judge builds the engine. Whatever the policy says, it protects the program's state, the
// files of the policy, the files of escalations, and the audit.
func (f *mcpFlags) judge(at wiring.Paths, configs map[string]servers.Config) (*policy.Engine, error) {
	if info, err := os.Stat(f.Sandbox); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a directory", f.Sandbox)
		}
		return nil, cli.Fail("open the sandbox", err, "--sandbox names the directory that the agent works in")
	}
	c, err := f.Config("load policy")
	if err != nil {
		return nil, err
	}
	log := wiring.AbsolutePath(f.audit)
	c.Protected = append(c.Protected, at.Home, log, log+".head", wiring.AbsolutePath(f.servers))
	c.Protected = append(c.Protected, wiring.PolicyFiles(f.Policy)...)
	c.AgentDirs = stored.AgentDirs(at.Home)
	for _, own := range []string{f.Annotations, f.Lists, f.tokenFile} {
		if own != "" {
			c.Protected = append(c.Protected, wiring.AbsolutePath(own))
		}
	}
	if f.escalations != "deny" && f.escalations != "prompt" {
		c.Protected = append(c.Protected, wiring.AbsolutePath(f.escalations)) // whoever can write there can approve
	}
	c.DomainAllow = map[string][]string{}
	for name, s := range configs {
		if hosts := s.Sandbox.Network.AllowedDomains; len(hosts) > 0 {
			c.DomainAllow[name] = hosts
		}
	}
	e, err := policy.New(c)
	return e, cli.Fail("load policy", err, "")
}
