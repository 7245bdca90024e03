package proxies

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/oauth"
)

// mitmFlags are the flags of "proxy mitm".
type mitmFlags struct {
	socket, state, audit string
	providers            []string
	noSync               bool
	upstream             wiring.UpstreamFlags
}

// proxyMITMCommand runs the proxy between an agent and its model provider.
func proxyMITMCommand() *cobra.Command {
	var f mitmFlags
	cmd := &cobra.Command{
		Use:   "mitm",
		Short: "Swap a sentinel for the real key on the way to a model provider",
		Long: `Serve a proxy on a Unix socket. The agent behind it has a sentinel, which is a fake
key. Only requests with the sentinel to a listed endpoint are forwarded, with the real
key, which comes from the environment or from the credential store of the provider's
own program.

A login is preferred to a key, unless IRONCURTAIN_DOCKER_AUTH is "apikey". Providers
can be added, and endpoints changed, in config.json. If an upstream is given for the
host of a login's token service, logins are also renewed there.

When the proxy is ready, the command prints one JSON line with the socket, the
certificate that the agent must trust, and the sentinels.`,
		Example: `  ANTHROPIC_API_KEY=... ironcurtain-mux proxy mitm --socket /tmp/mitm.sock \
    --provider anthropic --state ./state --audit ./audit.jsonl
  ironcurtain-mux proxy mitm --socket /tmp/mitm.sock --provider anthropic,openai \
    --state ./state --audit ./audit.jsonl --upstream api.anthropic.com=http://127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMITM(cmd.Context(), f, os.Getenv, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	var names []string
	for _, p := range mitm.Providers() {
		names = append(names, p.Name)
	}
	fl := cmd.Flags()
	fl.StringVar(&f.socket, "socket", "", "`path` of the Unix socket to serve")
	fl.StringSliceVar(&f.providers, "provider", nil, "providers to reach: "+strings.Join(names, ", ")+", and those of config.json")
	fl.StringVar(&f.state, "state", "", "`directory` for ca-cert.pem; made if it is missing")
	fl.StringVar(&f.audit, "audit", "", "`file` of the audit log")
	fl.BoolVar(&f.noSync, "no-sync", false, "do not wait until audit records are on the disk")
	f.upstream.Register(cmd)
	for _, name := range []string{"socket", "provider", "state", "audit"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

// mitmReady is the line that the command prints when the proxy is ready.
type mitmReady struct {
	Ready     bool              `json:"ready"`
	Socket    string            `json:"socket"`
	CA        string            `json:"ca"`
	Sentinels map[string]string `json:"sentinels"`           // by host
	Upstreams map[string]string `json:"upstreams,omitempty"` // by host, if requests for it are sent elsewhere
}

// runMITM serves until the context ends.
func runMITM(ctx context.Context, f mitmFlags, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	const op = "serve the mitm proxy"
	at, chosen, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	config, err := f.config(chosen)
	if err != nil {
		return err
	}
	credentials := egress.NewCredentials(f.providers, egress.Options{
		Environment: oauth.Host(at.UserHome, getenv), Journal: at.Home,
		Table: config.Table, Upstreams: config.Upstreams, UpstreamCAs: config.UpstreamCAs,
	})
	config.Credentials, config.Refused, config.Modes = credentials.Credential, credentials.Refused, credentials.Modes()
	config.Held = credentials.Held()
	config.Log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	log, err := audit.Open(f.audit, audit.Options{NoSync: f.noSync, Secrets: credentials.Secrets(), State: func(err error) {
		if err != nil {
			config.Log.Error("the audit log cannot be written", "error", err)
		}
	}})
	if err != nil {
		return cli.Fail("open the audit log", err, "")
	}
	defer func() { err = errors.Join(err, cli.Fail("close the audit log", log.Close(), "")) }()
	config.Audit, config.Note = egress.Append(log), egress.Post(log)
	p, err := mitm.New(config)
	if err != nil {
		return cli.Fail(op, err, "see 'ironcurtain-mux proxy mitm --help'")
	}
	return f.serve(ctx, p, stdout)
}

// serve writes the certificate, announces the proxy, serves it and drains it.
func (f mitmFlags) serve(ctx context.Context, p *mitm.Proxy, stdout io.Writer) error {
	const op = "serve the mitm proxy"
	ca := filepath.Join(f.state, "ca-cert.pem")
	if err := writeCertificate(ca, p.CACertificate()); err != nil {
		return cli.Fail("write the certificate", err, "choose another --state directory")
	}
	l, err := listenUnix(f.socket)
	if err != nil {
		return cli.Fail(op, err, "choose another --socket path")
	}
	defer func() { _ = os.Remove(f.socket) }()
	served := make(chan error, 1) // must-deliver, one result
	go func() { served <- p.Serve(l) }()
	debug.FreeOSMemory() // reading the configuration needed more memory than serving does
	ready := mitmReady{Ready: true, Socket: f.socket, CA: ca, Sentinels: p.Sentinels(), Upstreams: p.Moved()}
	if err := cli.PrintJSON(stdout, ready); err != nil {
		return errors.Join(cli.Fail(op, err, ""), p.Close(ctx), <-served)
	}
	select {
	case <-ctx.Done():
	case err := <-served:
		return errors.Join(cli.Fail(op, err, ""), p.Close(ctx))
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if err := p.Close(drain); err != nil {
		return cli.Fail("stop the mitm proxy", err, "")
	}
	return cli.Fail(op, <-served, "")
}

// config turns flags and the person's table of providers into the configuration
// of a proxy.
func (f mitmFlags) config(chosen config.Config) (mitm.Config, error) {
	table, err := wiring.ProvidersOf(chosen)
	if err != nil {
		return mitm.Config{}, cli.Fail("read configuration", err, "")
	}
	for _, name := range f.providers {
		if !slices.ContainsFunc(table, func(p mitm.Provider) bool { return p.Name == name }) {
			return mitm.Config{}, cli.Usagef("unknown provider %q", name)
		}
	}
	moved, err := f.upstream.Read(table)
	if err != nil {
		return mitm.Config{}, err
	}
	return mitm.Config{
		Providers: f.providers, Table: table, Upstreams: moved.Hosts, UpstreamCAs: moved.Roots,
		Limits: mitm.Limits{ShutdownRequest: drainTime},
	}, nil
}

// writeCertificate writes the certificate of the session's authority.
func writeCertificate(path string, pem []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Write(path, pem, 0o644)
}
