package proxies

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// confine prepares the sandboxes. It installs the sandbox runtime only if a server runs in
// it.
func (f *mcpFlags) confine(ctx context.Context, at wiring.Paths, configs map[string]servers.Config, stderr io.Writer) (*sandbox.Host, error) {
	say := func(text string) { fmt.Fprintln(stderr, "ironcurtain-mux: "+text) }
	dir, err := filepath.EvalSymlinks(wiring.AbsolutePath(f.Sandbox))
	if err != nil {
		return nil, err
	}
	o := sandbox.Options{Dir: dir, Policy: sandbox.Policy(f.sandboxPolicy), UserHome: at.UserHome, StateHome: at.Home, Warn: say}
	confined := false
	for _, c := range configs {
		confined = confined || !c.Sandbox.Off && c.Remote() == nil
	}
	if !confined {
		o.Policy, o.Warn = sandbox.Warn, nil
		return sandbox.New(ctx, o)
	}
	installed, err := servers.Install(ctx, at.Cache, say)
	if err != nil && o.Policy == sandbox.Enforce {
		return nil, err
	}
	if err != nil {
		say(err.Error())
	} else if o.Runtime, err = installed.Argv("srt"); err != nil {
		return nil, err
	}
	o.Readable = []string{at.Cache}
	return sandbox.New(ctx, o)
}

// specs turns the file's entries into servers to start, in the order of their
// names.
func (f *mcpFlags) specs(at wiring.Paths, configs map[string]servers.Config) []sandbox.Spec {
	specs := make([]sandbox.Spec, 0, len(configs))
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		c := configs[name]
		if c.Remote() != nil {
			specs = append(specs, session.RemoteSpec(name, c, at.Home, at.UserHome))
			continue
		}
		argv := []string{fromHere(c.Command)}
		for _, a := range c.Args {
			argv = append(argv, fromHere(a))
		}
		specs = append(specs, sandbox.Spec{Name: name, Argv: argv, Env: c.Env, Sandbox: c.Sandbox, Roots: f.roots(argv[1:])})
	}
	return specs
}

// roots returns the directories that a server gets as MCP roots: the agent's, and those
// that the server's arguments name.
func (f *mcpFlags) roots(args []string) []string {
	open := []string{wiring.AbsolutePath(f.Sandbox)}
	for _, a := range args {
		if info, err := os.Stat(a); err == nil && filepath.IsAbs(a) && info.IsDir() {
			open = append(open, a)
		}
	}
	return open
}

// fromHere makes an existing relative path absolute, because each server runs in a private
// directory.
func fromHere(word string) string {
	if !strings.Contains(word, "/") || strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@") || filepath.IsAbs(word) {
		return word
	}
	if _, err := os.Stat(word); err != nil {
		return word
	}
	return wiring.AbsolutePath(word)
}

// secretsOf lists the values in the servers' environments. They are treated as secrets.
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
