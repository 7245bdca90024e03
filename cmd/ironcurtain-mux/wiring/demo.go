package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// The notice and the agent of tabs of the demo.
const (
	DemoNotice = "scripted model, not an AI"
	DemoAgent  = "claude-code" // unless the person names another one
)

// RunningDemo is what all tabs of the demo share.
type RunningDemo struct {
	ground demo.Playground
	remote *demo.Remote
	model  *scripted.Server
}

// StartDemo prepares the demo's directories and starts its model and its git server.
func StartDemo(ctx context.Context, p Paths) (*RunningDemo, error) {
	const op = "prepare demo"
	ground, err := demo.Prepare(p.Home)
	if err != nil {
		return nil, cli.Fail(op, err, "")
	}
	remote, err := demo.Serve(context.WithoutCancel(ctx), ground)
	if err != nil {
		return nil, cli.Fail(op, err, "")
	}
	model, err := scripted.Start(context.WithoutCancel(ctx))
	if err != nil {
		return nil, errors.Join(cli.Fail(op, err, ""), remote.Close())
	}
	return &RunningDemo{ground, remote, model}, nil
}

// Close ends the model and the git server.
func (d *RunningDemo) Close() error { return errors.Join(d.model.Close(), d.remote.Close()) }

// Config returns the configuration of the demo's sessions. They have the scripted model and its
// keys, and none of the person's keys. Only the remotes of the playground are known git hosts, and
// git contacts no host without an approval.
func (d *RunningDemo) Config(p Paths, c config.Config, log *slog.Logger) (broker.Config, error) {
	agents, err := AgentsOf(c)
	if err != nil {
		return broker.Config{}, err
	}
	target, err := url.Parse(d.model.URL())
	if err != nil {
		return broker.Config{}, cli.Fail("prepare demo", err, "")
	}
	b, err := Parts{Paths: p, Config: c, Agents: agents, Keys: egress.Keys(d.model.Keys())}.Sessions(log)
	if err != nil {
		return b, err
	}
	b.DefaultAgent = DemoAgent
	b.Upstreams = make(map[string]*url.URL)
	for _, host := range scripted.Hosts() {
		b.Upstreams[host] = target
	}
	b.UpstreamCAs = d.model.CAPool()
	b.Notice = DemoNotice
	b.AgentKeys = nil
	b.GitHub = nil
	b.Models = nil // the script does not know how to please every model
	b.Unprotected = append(b.Unprotected, d.ground.Outside)
	b.Furnish = func(ctx context.Context, dir string, fresh bool) error {
		if !fresh {
			return d.remote.Tell(dir)
		}
		return d.remote.Furnish(ctx, dir)
	}
	b.GitHosts = nil
	if b.AutoApprove != nil {
		b.AutoApprove.Known = []string{"127.0.0.2", "127.0.0.1"}
	}
	return b, nil
}

// Intro says what to try in a tab of the demo whose agent has a model.
func (w Parts) Intro(s broker.Session) []string {
	a, err := w.Agents.Named(s.Agent)
	if err != nil || !s.Profile.Demo || len(a.Providers) == 0 {
		return nil
	}
	return demoIntro(w.Paths, s)
}

// demoIntro says what to try: a call that is allowed, one that waits for the person, and
// one that is denied. More lines would hide the last lines of some agents' screens, where
// the person types.
func demoIntro(p Paths, s broker.Session) []string {
	allowed := "read " + demo.Hello
	if !s.Private() { // a directory that was given has no such file
		allowed = "list ."
	}
	return []string{
		"type this, it is allowed: " + allowed,
		fmt.Sprintf("this asks you: write %s hello", p.Shorten(demo.At(p.Home).Notes)),
		fmt.Sprintf("this is denied: read %s", p.Shorten(p.ConfigFile())),
	}
}
