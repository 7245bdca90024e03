package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// mcpFlags are the flags of "proxy mcp".
type mcpFlags struct {
	policyFlags
	servers, socket, audit     string
	escalations, sandboxPolicy string
	tcp, tokenFile             string
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
TCP port, where a client begins with the line "Bearer TOKEN". Every
call is judged; what is forwarded is what was judged, and only after a record of
it is in the audit log.

On SIGUSR1 the policy, the annotations and the lists are read anew; when they
cannot be loaded, the error is printed and those from before stay.

When it serves, the command prints one JSON line, on standard output or, with
--stdio, on standard error.`,
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
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.servers, "servers", "", "`file` that names the MCP servers")
	fl.StringVar(&f.socket, "socket", "", "`path` of the Unix socket to serve")
	fl.BoolVar(&f.stdio, "stdio", false, "serve on standard input and output")
	fl.StringVar(&f.tcp, "tcp", "", "`address` of the TCP port to serve, such as 127.0.0.1:7777; port 0 takes a free one")
	fl.StringVar(&f.tokenFile, "token-file", "", "`file` with the token of TCP clients; one that is missing is made")
	fl.BoolVar(&f.tcpRemote, "tcp-remote", false, "let --tcp name an address that other machines reach; nothing is encrypted")
	fl.StringVar(&f.audit, "audit", "", "`file` of the audit log")
	fl.StringVar(&f.escalations, "escalations", "deny", "who decides what the policy escalates: deny, prompt (at the terminal) or a `directory` of request and response files")
	fl.StringVar(&f.sandboxPolicy, "sandbox-policy", defaultSandboxPolicy(), "without a sandbox: enforce (do not start) or warn")
	fl.BoolVar(&f.noSync, "no-sync", false, "leave it to the system when audit records reach the disk")
	fl.IntVar(&f.repeats, "repeat-limit", 0, "equal calls a minute before they are denied; 0: no limit")
	_ = cmd.MarkFlagRequired("servers")
	_ = cmd.MarkFlagRequired("audit")
	cmd.MarkFlagsMutuallyExclusive("socket", "stdio", "tcp")
	cmd.MarkFlagsOneRequired("socket", "stdio", "tcp")
	cmd.MarkFlagsRequiredTogether("tcp", "token-file")
	return cmd
}

// defaultSandboxPolicy is to warn only where there is no sandbox to be had.
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
		return usagef("--sandbox-policy %q is neither enforce nor warn", f.sandboxPolicy)
	}
	defer relay()()
	at, err := findPlace()
	if err != nil {
		return err
	}
	configs, err := servers.Load(f.servers)
	if err != nil {
		return fail("read servers", err, "")
	}
	engine, err := f.judge(at, configs)
	if err != nil {
		return err
	}
	log, err := audit.Open(f.audit, audit.Options{NoSync: f.noSync, Secrets: secretsOf(configs)})
	if err != nil {
		return fail("open the audit log", err, "")
	}
	defer func() { err = errors.Join(err, fail("close the audit log", log.Close(), "")) }()
	host, err := f.confine(ctx, at, configs, stderr)
	if err != nil {
		return fail("prepare the sandbox", err, "")
	}
	defer func() { err = errors.Join(err, fail("remove the sandbox", host.Close(), "")) }()
	asking, err := f.approver(ctx, stderr)
	if err != nil {
		return err
	}
	defer asking.stop()
	p, err := mcpproxy.New(mcpproxy.Config{
		Session: "proxy", Engine: engine, Servers: f.specs(configs), Sandbox: host, Approvals: asking.approver,
		Preview: &preview.Previewer{UserHome: at.userHome, Known: preview.KnownHosts},
		Audit:   log, Secrets: secretsOf(configs), Limits: mcpproxy.Limits{Repeats: f.repeats},
		Widen: "list it in sandbox.filesystem.allowWrite of the server in " + filepath.Base(f.servers),
	})
	if err != nil {
		return fail(op, err, "")
	}
	if err := p.Start(ctx); err != nil {
		return fail(op, err, "")
	}
	defer f.reloadOnSignal(func() (*policy.Engine, error) { return f.judge(at, configs) }, p, stderr)()
	return fail(op, f.serve(ctx, p, stdin, stdout, stderr), "")
}

// reloadOnSignal reads the policy anew on SIGUSR1. One that cannot be loaded is
// reported, and the one that judges stays. It returns what ends it.
func (f *mcpFlags) reloadOnSignal(load func() (*policy.Engine, error), p *mcpproxy.Proxy, stderr io.Writer) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{}) // one reload that waits covers all that were asked for
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer close(done)
		for range signals {
			engine, err := load()
			if err != nil {
				report(stderr, fmt.Errorf("%w; the policy that judges is still the one before", err), false)
				continue
			}
			p.Reload(engine)
			fmt.Fprintf(stderr, "ironcurtain-mux: the policy was reloaded: %.12s\n", engine.Hash())
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// relay sets the runtime up for passing small messages on: a call goes through
// a few goroutines one after the other, so on a small machine handing it to the
// other core costs more than that core could save, and a heap that is nearly empty need not be
// collected all the time. It returns what undoes it.
func relay() (undo func()) {
	const heap = 64 << 20 // collect as usual above it
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(heap)
	cores := runtime.GOMAXPROCS(0)
	if cores == 2 {
		runtime.GOMAXPROCS(1)
	}
	return func() {
		runtime.GOMAXPROCS(cores)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// serve announces the proxy, serves it and drains it.
func (f *mcpFlags) serve(ctx context.Context, p *mcpproxy.Proxy, stdin io.Reader, stdout, stderr io.Writer) error {
	served := make(chan error, 1) // must-deliver, one result
	announce := stdout
	ready := map[string]any{"ready": true, "socket": f.socket, "tools": p.Tools()}
	switch {
	case f.stdio:
		announce = stderr
		go func() { served <- p.ServeConn(newStdio(stdin, stdout)) }()
	case f.tcp != "":
		l, token, err := f.listenTCP(ctx)
		if err != nil {
			return errors.Join(err, p.Close(ctx))
		}
		ready["address"] = l.Addr().String()
		go func() { served <- p.ServeToken(l, token) }()
	default:
		l, err := listenUnix(f.socket)
		if err != nil {
			return errors.Join(err, p.Close(ctx))
		}
		defer func() { _ = os.Remove(f.socket) }()
		go func() { served <- p.Serve(l) }()
	}
	err := json.NewEncoder(announce).Encode(ready)
	ended := false
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-served:
			ended = true
		}
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err = errors.Join(err, p.Close(drain))
	if !ended {
		err = errors.Join(err, <-served)
	}
	return err
}

// judge builds the engine. The program's state, what it judges by, who decides and
// the record of what happened are protected whatever the policy says.
func (f *mcpFlags) judge(at place, configs map[string]servers.Config) (*policy.Engine, error) {
	if info, err := os.Stat(f.sandbox); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is not a directory", f.sandbox)
		}
		return nil, fail("open the sandbox", err, "--sandbox names the directory that the agent works in")
	}
	c, err := f.config("load policy")
	if err != nil {
		return nil, err
	}
	log := absolutePath(f.audit)
	c.Protected = append(c.Protected, at.home, log, log+".head", absolutePath(f.servers))
	c.Protected = append(c.Protected, policyFiles(f.policy)...)
	for _, own := range []string{f.annotations, f.lists, f.tokenFile} {
		if own != "" {
			c.Protected = append(c.Protected, absolutePath(own))
		}
	}
	if f.escalations != "deny" && f.escalations != "prompt" {
		c.Protected = append(c.Protected, absolutePath(f.escalations)) // who writes there approves
	}
	c.DomainAllow = map[string][]string{}
	for name, s := range configs {
		if hosts := s.Sandbox.Network.AllowedDomains; len(hosts) > 0 {
			c.DomainAllow[name] = hosts
		}
	}
	e, err := policy.New(c)
	return e, fail("load policy", err, "")
}

// confine prepares the sandboxes. The runtime is installed only when a server
// is to run in it.
func (f *mcpFlags) confine(ctx context.Context, at place, configs map[string]servers.Config, stderr io.Writer) (*sandbox.Host, error) {
	say := func(text string) { fmt.Fprintln(stderr, "ironcurtain-mux: "+text) }
	dir, err := filepath.EvalSymlinks(absolutePath(f.sandbox))
	if err != nil {
		return nil, err
	}
	o := sandbox.Options{Dir: dir, Policy: sandbox.Policy(f.sandboxPolicy), UserHome: at.userHome, StateHome: at.home, Warn: say}
	confined := false
	for _, c := range configs {
		confined = confined || !c.Sandbox.Off
	}
	if !confined {
		o.Policy, o.Warn = sandbox.Warn, nil
		return sandbox.New(ctx, o)
	}
	installed, err := servers.Install(ctx, at.cache, say)
	if err != nil && o.Policy == sandbox.Enforce {
		return nil, err
	}
	if err != nil {
		say(err.Error())
	} else if o.Runtime, err = installed.Argv("srt"); err != nil {
		return nil, err
	}
	o.Readable = []string{at.cache}
	return sandbox.New(ctx, o)
}

// specs turns the file's entries into servers to start, in the order of their
// names.
func (f *mcpFlags) specs(configs map[string]servers.Config) []sandbox.Spec {
	specs := make([]sandbox.Spec, 0, len(configs))
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		c := configs[name]
		argv := []string{fromHere(c.Command)}
		for _, a := range c.Args {
			argv = append(argv, fromHere(a))
		}
		specs = append(specs, sandbox.Spec{Name: name, Argv: argv, Env: c.Env, Sandbox: c.Sandbox, Roots: f.roots(argv[1:])})
	}
	return specs
}

// roots are the directories that a server is told are open: the agent's, and
// those that its own arguments name.
func (f *mcpFlags) roots(args []string) []string {
	open := []string{absolutePath(f.sandbox)}
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && filepath.IsAbs(a) && info.IsDir() {
			open = append(open, a)
		}
	}
	return open
}

// fromHere makes a relative path that exists absolute: servers run in private
// directories of their own.
func fromHere(word string) string {
	if !strings.Contains(word, "/") || strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@") || filepath.IsAbs(word) {
		return word
	}
	if _, err := os.Stat(word); err != nil {
		return word
	}
	return absolutePath(word)
}

// secretsOf lists the values that servers get in their environment: they are
// theirs alone.
func secretsOf(configs map[string]servers.Config) []string {
	var all []string
	for _, c := range configs {
		for name, value := range c.Env {
			if n := strings.ToUpper(name); strings.Contains(n, "TOKEN") || strings.Contains(n, "KEY") ||
				strings.Contains(n, "SECRET") || strings.Contains(n, "PASS") || strings.Contains(n, "CREDENTIAL") {
				all = append(all, value)
			}
		}
	}
	return all
}

// asking is whoever decides what the policy escalates.
type asking struct {
	approver mcpproxy.Approver // nil: nobody
	stop     func()
}

// approver sets up the chosen way to decide.
func (f *mcpFlags) approver(ctx context.Context, stderr io.Writer) (asking, error) {
	if f.escalations == "deny" {
		return asking{stop: func() {}}, nil
	}
	q := approval.New(approval.Options{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	a := asking{approver: q, stop: func() { q.Close(); cancel(); <-done }}
	if f.escalations == "prompt" {
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			cancel()
			return asking{}, fail("open the terminal", err, "--escalations prompt needs one; use a directory or deny")
		}
		a.stop = func() { q.Close(); cancel(); _ = tty.Close(); <-done }
		go func() {
			defer close(done)
			_ = approval.ServePrompt(ctx, q, tty, tty)
		}()
		return a, nil
	}
	dir := absolutePath(f.escalations)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		cancel()
		return asking{}, fail("prepare escalations", err, "choose another --escalations directory")
	}
	go func() {
		defer close(done)
		if err := approval.ServeFiles(ctx, q, dir); err != nil {
			fmt.Fprintln(stderr, "ironcurtain-mux: "+err.Error())
		}
	}()
	return a, nil
}

// stdio is standard input and output as one connection. Closing it ends a read
// that waits, which closing standard input itself would not.
type stdio struct {
	*io.PipeReader
	io.Writer
}

func newStdio(in io.Reader, out io.Writer) stdio {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err) // nil means the end of the input
	}()
	return stdio{r, out}
}
