package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// show runs a view for a client, with its tabs arranged as they were kept. left says that a killed
// multiplexer may have left agents running.
func show(w wiring.Parts, ctx context.Context, c daemon.Client, b *broker.Broker, mux *pane.Mux, kept *arrangements, seen *seenFile, left bool, notices []string) (end string, err error) {
	if c.Rights == wire.Answer {
		return prompt(ctx, c, b)
	}
	o := options(w, b, c.In, c.Out)
	o.Client = c.Identity
	o.Notices = notices
	if offer := offerUpgrade(cli.ThisBuild().Version, c.Version); offer != "" {
		o.Notices = append(o.Notices, offer)
	}
	o.Mux, o.Detach, o.Show, o.Safe = mux, true, broker.SessionID(c.Asked.Show), c.Asked.Safe
	o.Passed, o.Dir, o.Others, o.Failed, o.Stalled = &c.Passed, c.Asked.Dir, c.Others, c.Failed, c.Stalled
	o.Front = func(id broker.SessionID) { c.Activity.Front.Store(&id) }
	o.Focused = func(yes bool) { c.Activity.Away.Store(!yes) }
	o.Used = func() { now := time.Now(); c.Activity.Used.Store(&now) }
	o.Arrangement, o.Left = kept.of(c), func(a tui.Arrangement) { kept.keep(c, a) }
	if !c.Asked.Follows() {
		o.Arrangement.Aside = nil // whoever comes now has not seen the strip
	}
	o.Arranged = func(a tui.Arrangement) {
		mutes := a.Mutes
		c.Activity.Mutes.Store(&mutes)
		kept.note(c, a)
	}
	defer kept.end(c)
	o.Arranged(o.Arrangement)
	o.Seen, o.KeepSeen = seen.now(), seen.keep
	o.KeepPrefix = func(key string) error {
		return errors.Join(config.SetPrefix(w.Paths.ConfigFile(), key), b.Refresh(ctx))
	}
	o.Opener = broker.Opener{Keys: c.Asked.Keys, Environment: c.Asked.Environment}
	if open := c.Asked.Open; open != nil {
		o.Add = !open.Once
		o.Agent, o.Workspace, o.Prompt = open.Agent, open.Workspace, open.Prompt
		if open.Profile != nil {
			o.Profile = broker.Profile(*open.Profile)
		}
		o.Worktree, o.Repo, o.Branch = broker.WorktreeChoice(open.Worktree), open.Repo, open.Branch
		o.Resume = broker.SessionID(open.Resume)
	}
	if c.Rights != wire.Operate {
		o.Rights, o.API = tui.See, calls.ReadOnly(b)
		o.Notices = append(o.Notices, "read-only")
	} else if left && o.Resume == "" && !o.Safe {
		o.Offer = offerOf(b)
	}
	if o.Rights == tui.Operate && !o.Safe && c.Asked.Here {
		workHere(ctx, w, b, c.Asked.Dir, &o)
	}
	if o.Rights == tui.Operate && !o.Safe && opensTab(ctx, b, o) {
		agent := w.Config.Agent
		if o.Profile.Demo {
			agent = wiring.DemoAgent
		}
		if err := b.CheckAgent(ctx, cmp.Or(o.Agent, agent)); err != nil {
			return "", err // before the screen is taken
		}
	}
	err = tui.Run(ctx, o)
	switch {
	case errors.Is(err, tui.ErrDetached):
		return "detached; 'ironcurtain-mux' shows it again", nil
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "the multiplexer was ended", nil
	}
	return "", daemon.ErrQuit
}

// prompt asks a person who may only decide about one waiting call after the other.
func prompt(ctx context.Context, c daemon.Client, b *broker.Broker) (end string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	p, err := outer.OpenPrompt(ctx, c.In, c.Out, c.Passed)
	if err != nil {
		cancel()
		return "", err
	}
	defer p.Close()
	defer cancel()
	if _, err := fmt.Fprintln(p, "calls that wait are asked about here, one after the other; Ctrl-C leaves"); err != nil {
		return "", err
	}
	return "detached", b.ServePrompt(ctx, p, c.Identity)
}

// opensTab reports whether a view begins with a new tab.
func opensTab(ctx context.Context, b *broker.Broker, o tui.Options) bool {
	sessions, _ := b.Sessions(ctx) // it fails only when ctx has ended
	return o.Add || !slices.ContainsFunc(sessions, func(s broker.Session) bool {
		return !s.NoTerminal && s.State != broker.StateClosed && (o.Profile.IsZero() || s.Profile.Same(o.Profile) && s.State != broker.StateDead)
	})
}
