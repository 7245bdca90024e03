package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
)

// demoNotice is the notice of every tab of the demo.
const demoNotice = "scripted model, not an AI"

// demoCommand opens the multiplexer with a scripted model in place of the provider;
// everything else is real.
func demoCommand() *cobra.Command {
	var flags muxFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Open the multiplexer with a scripted model; needs no key",
		Long: `Open the multiplexer with a scripted model in place of the provider. The agent,
its container, both proxies, the policy and the tool servers are the real ones.
The model takes orders of one line: read PATH, write PATH TEXT, list PATH, push,
push to REMOTE, run COMMAND, say TEXT. The remotes origin and backup are on this machine.`,
		Example: "  ironcurtain-mux demo\n  ironcurtain-mux demo --agent shell",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, ground, done, err := wireDemo(cmd, &flags)
			if err != nil {
				return err
			}
			defer done()
			options := tui.Options{Notices: []string{demoNotice}}
			if a, err := w.agents.Named(flags.agent); err == nil && len(a.Providers) > 0 {
				options.Intro = demoIntro(w.paths, ground) // a shell takes no orders for the model
			}
			return w.run(cmd, flags, options)
		},
	}
	flags.register(cmd)
	return cmd
}

// wireDemo checks the flags, prepares the demo's directories and its model, and connects
// them; done ends the model.
func wireDemo(cmd *cobra.Command, flags *muxFlags) (w wiring, ground demo.Playground, done func(), err error) {
	p, c, err := flags.check(cmd.Context())
	if err != nil {
		return w, ground, nil, err
	}
	if ground, err = demo.Prepare(cmd.Context(), p.home); err != nil {
		return w, ground, nil, fail("prepare demo", err, "make "+p.home+" writable or set IRONCURTAIN_HOME")
	}
	remote, err := demo.Serve(context.WithoutCancel(cmd.Context()), ground)
	if err != nil {
		return w, ground, nil, fail("prepare demo", err, "make "+p.home+" writable or set IRONCURTAIN_HOME")
	}
	model, err := scripted.Start(context.WithoutCancel(cmd.Context()))
	if err != nil {
		return w, ground, nil, errors.Join(fail("prepare demo", err, ""), remote.Close())
	}
	done = func() {
		if err := errors.Join(model.Close(), remote.Close()); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "ironcurtain-mux: close the demo: %v\n", err)
		}
	}
	if flags.agent == "" {
		flags.agent = "claude-code"
	}
	if flags.workspace == "" && flags.resume == "" && flags.worktree.repo == "" {
		flags.workspace = ground.Workspace
	}
	if w, err = demoWiring(p, c, ground, model); err != nil {
		done()
		return w, ground, nil, err
	}
	return w, ground, done, nil
}

// demoWiring is the multiplexer's wiring with the scripted model. The remotes of the
// playground are known, and no host is open to git without an approval.
func demoWiring(p paths, c config.Config, ground demo.Playground, model *scripted.Server) (wiring, error) {
	agents, err := agentsOf(c)
	return wiring{
		paths:  p,
		config: c,
		agents: agents,
		keys:   egress.Keys(model.Keys()),
		change: func(b *broker.Config) {
			target, err := url.Parse(model.URL())
			if err != nil {
				panic(err) // the server made this address itself
			}
			b.Upstreams = make(map[string]*url.URL)
			for _, host := range scripted.Hosts() {
				b.Upstreams[host] = target
			}
			b.UpstreamCAs = model.CAPool()
			b.Notice = demoNotice
			b.AgentKeys = nil
			b.GitHub = nil
			b.Models = nil // the script does not know how to please every model
			b.Unprotected = append(b.Unprotected, ground.Outside, ground.Workspace)
			b.GitHosts = nil
			if b.AutoApprove != nil {
				b.AutoApprove.Known = []string{"127.0.0.2", "127.0.0.1"}
			}
		},
	}, err
}

// demoIntro says what to try: a call that is allowed, one that waits for the person, and
// one that is denied. More lines would hide the last lines of some agents' screens, where
// the person types.
func demoIntro(p paths, ground demo.Playground) []string {
	return []string{
		"type this, it is allowed: read hello.txt",
		fmt.Sprintf("this asks you: write %s hello", p.shorten(ground.Notes)),
		fmt.Sprintf("this is denied: read %s", p.shorten(p.configFile())),
	}
}
