package proxies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// AnnotateCommand drafts the annotations of a server.
func AnnotateCommand() *cobra.Command {
	var f mcpFlags
	var name string
	var accept bool
	cmd := &cobra.Command{
		Use:   "annotate [NAME]",
		Short: "Draft the annotations of a server's tools, for review",
		Long: `Start a server in its sandbox, list its tools without calling any, and print
annotations for them: what each argument of each tool means. Roles are guessed from
names and types. An argument whose role cannot be guessed gets a role that a rule must
cover before a call passes, and is named on standard error. Annotations are trusted:
review each line.

NAME is a server of your own in config.json. With --accept its annotations are kept and
apply in every tab from then on: the policy judges calls of these tools, and a person is
asked about calls that no rule covers. Roles that you have corrected in the kept file
stay when you accept again. When the description or the arguments of a tool
change later, a person is asked about each of its calls, and /servers shows the
difference. --server names a server of an mcp-servers.json for 'proxy mcp' instead.`,
		Example: `  ironcurtain-mux policy annotate tickets
  ironcurtain-mux policy annotate tickets --accept
  ironcurtain-mux policy annotate --servers mcp-servers.json --server notes --sandbox ~/project > tool-annotations.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			own := len(args) == 1
			if own == (f.servers != "" || name != "" || f.Sandbox != "") || !own && (f.servers == "" || name == "" || f.Sandbox == "" || accept) {
				return cli.Usagef("name a server of config.json, or give --servers, --server and --sandbox")
			}
			if !own {
				return f.annotateListed(cmd, name)
			}
			return f.annotateOwn(cmd, args[0], accept)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&accept, "accept", false, "keep the annotations of a server of config.json")
	fl.StringVar(&f.servers, "servers", "", "`file` that names the MCP servers")
	fl.StringVar(&name, "server", "", "the server to annotate")
	fl.StringVar(&f.Sandbox, "sandbox", "", "the session's directory on this machine")
	fl.StringVar(&f.sandboxPolicy, "sandbox-policy", defaultSandboxPolicy(), "if no sandbox can be made: enforce (do not start) or warn")
	return cmd
}

// annotateListed drafts for a server of the file that --servers names.
func (f *mcpFlags) annotateListed(cmd *cobra.Command, name string) error {
	at, err := wiring.FindPaths()
	if err != nil {
		return err
	}
	all, err := servers.Load(f.servers)
	if err != nil {
		return cli.Fail("read servers", err, "")
	}
	one, ok := all[name]
	if !ok {
		return cli.Fail("annotate", fmt.Errorf("%s names no server %q", f.servers, name), "choose one of its servers with --server")
	}
	text, err := f.draft(cmd.Context(), at, name, one, nil, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(text)
	return cli.Fail("annotate", err, "")
}

// annotateOwn drafts for a server of config.json, and keeps the draft if it is accepted.
func (f *mcpFlags) annotateOwn(cmd *cobra.Command, name string, accept bool) (err error) {
	const op = "annotate"
	at, c, err := wiring.LoadConfig()
	if err != nil {
		return err
	}
	agents, err := wiring.AgentsOf(c)
	if err != nil {
		return err
	}
	own, err := wiring.OwnServers(c, at.ConfigFile(), "", agents)
	if err != nil {
		return err
	}
	one, ok := own[name]
	if !ok {
		return cli.Fail(op, fmt.Errorf("config.json has no server %q", name), "'mcpServers' in config.json lists your servers")
	}
	if f.Sandbox, err = os.MkdirTemp("", "ironcurtain-annotate-"); err != nil {
		return cli.Fail(op, err, "")
	}
	defer os.RemoveAll(f.Sandbox)
	path := at.AnnotationsOf(name)
	reviewed, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.Fail(op, err, "")
	}
	if reviewed != nil {
		if _, err := policy.ParseAnnotations(path, reviewed); err != nil {
			return cli.Fail(op, err, "correct that file, or remove it to begin anew")
		}
	}
	text, err := f.draft(cmd.Context(), at, name, one, reviewed, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if !accept {
		_, err = cmd.OutOrStdout().Write(text)
		return cli.Fail(op, err, "")
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = wholefile.Write(path, text, 0o600)
	}
	if err != nil {
		return cli.Fail(op, err, "")
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s applies in every new tab from now on, and in open tabs after /policy reload; correct roles in that file\n", path)
	return cli.Fail(op, err, "")
}

// draft starts a server and drafts annotations of its tools, as policy.Draft does.
func (f *mcpFlags) draft(ctx context.Context, at wiring.Paths, name string, one servers.Config, reviewed []byte, stderr io.Writer) (text []byte, err error) {
	const op = "annotate"
	configs := map[string]servers.Config{name: one}
	f.MaxCall = 1 // nothing is judged
	engine, err := f.Engine(op)
	if err != nil {
		return nil, err
	}
	host, err := f.confine(ctx, at, configs, stderr)
	if err != nil {
		return nil, cli.Fail("prepare the sandbox", err, "")
	}
	defer func() { err = errors.Join(err, cli.Fail("remove the sandbox", host.Close(), "")) }()
	p, err := mcpproxy.New(mcpproxy.Config{
		Session: "annotate", Engine: engine, Servers: f.specs(at, configs), Sandbox: host, Audit: audit.Discard{}, Secrets: secretsOf(configs),
	})
	if err != nil {
		return nil, cli.Fail(op, err, "")
	}
	if err := p.Start(ctx); err != nil {
		return nil, cli.Fail(op, err, "")
	}
	tools := p.Definitions(name)
	if err := p.Close(ctx); err != nil {
		return nil, cli.Fail(op, err, "")
	}
	text, doubts, err := policy.Draft(name, tools, reviewed, time.Now())
	if err != nil {
		return nil, cli.Fail(op, err, "write the annotations of this server by hand")
	}
	for _, d := range doubts {
		fmt.Fprintln(stderr, "ironcurtain-mux: the role cannot be guessed, decide it yourself: "+d)
	}
	return text, nil
}
