package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// views is what a daemon shows its clients.
type views struct {
	parts   wiring.Parts
	broker  *broker.Broker
	log     *slog.Logger
	tasks   pane.Tasks
	mux     *pane.Mux
	kept    *arrangements
	seen    *seenFile
	left    bool     // a killed multiplexer may have left agents running
	notices []string // shown in every view
}

// newViews returns the views of a broker's sessions. Their terminals end with ctx.
func newViews(ctx context.Context, w wiring.Parts, b *broker.Broker, log *slog.Logger) *views {
	v := &views{parts: w, broker: b, log: log, kept: newArrangements(arrangementsFile(w.Paths.Home), log)}
	v.mux = pane.NewMux(ctx, &v.tasks, term.Options{Engine: w.Config.Terminal.Engine, Scrollback: w.Config.Scrollback})
	v.seen = openSeen(filepath.Join(w.Paths.Home, "seen.json"), log)
	return v
}

// arrangementsFile is the file with the arrangements of views.
func arrangementsFile(home string) string { return filepath.Join(home, "arrangements.json") }

// takeBack takes back the agents that a multiplexer has left.
func (v *views) takeBack(ctx context.Context) {
	planned := stoodDown(v.parts.Paths.Home)
	some := v.broker.Sweep()
	if v.left = some && !takeBack(ctx, v.broker, v.parts.Paths.Home, planned, v.log); !some {
		v.kept.forget() // no agent was left, so the arrangements are about nothing
	}
}

// continueFrom continues with what the former program of this process has handed over, and reports
// whether a person had started that program.
func (v *views) continueFrom(ctx context.Context, former io.ReadCloser) (byHand bool) {
	h, notices := continueFrom(ctx, former, v.broker, v.mux, v.log)
	v.kept.kept, v.notices = h.Arrangements, notices
	return h.ByHand
}

// end ends the agents and the broker by calling done, and says how to resume the sessions.
func (v *views) end(ctx context.Context, done func()) string {
	v.mux.Close()
	back := resumeHint(ctx, v.broker)
	done()
	v.tasks.Wait(wiring.ShutdownLimit)
	forgetEngine(v.parts.Paths.Home)
	return back
}

// show runs a view for a client, with its tabs arranged as they were kept.
func (v *views) show(ctx context.Context, c daemon.Client) (end string, err error) {
	notices := slices.Clone(v.notices)
	if err := v.broker.Refresh(ctx); err != nil {
		notices = append(notices, v.broker.Outdated(err))
	}
	if c.Rights == wire.Answer {
		return prompt(ctx, c, v.broker)
	}
	w := v.parts.Latest()
	o := options(w, v.broker, c.In, c.Out)
	o.Mux, o.Detach, o.Notices = v.mux, true, notices
	if offer := offerUpgrade(cli.ThisBuild().Version, c.Version, c.Asked.Follows()); offer != "" {
		o.Notices = append(o.Notices, offer)
	}
	setClient(c, &o)
	defer v.kept.end(c)
	v.keep(ctx, w, c, &o)
	if c.Rights != wire.Operate {
		o.Rights, o.API = tui.See, calls.ReadOnly(v.broker)
		o.Notices = append(o.Notices, "read-only")
	} else if v.left && o.Resume == "" && !o.Safe {
		o.Offer = offerOf(v.broker)
	}
	if o.Rights == tui.Operate && !o.Safe && c.Asked.Here {
		workHere(ctx, w, v.broker, c.Asked.Dir, &o)
	}
	if o.Rights == tui.Operate && !o.Safe && opensTab(ctx, v.broker, o) {
		agent := w.Config.Agent
		if o.Profile.Demo {
			agent = wiring.DemoAgent
		}
		if err := v.broker.CheckAgent(ctx, cmp.Or(o.Agent, agent)); err != nil {
			return "", err // before anything is drawn
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

// setClient sets the options that come from the client and from what it has asked for.
func setClient(c daemon.Client, o *tui.Options) {
	o.Client, o.Show, o.Safe = c.Identity, broker.SessionID(c.Asked.Show), c.Asked.Safe
	o.Passed, o.Dir, o.Others, o.Failed, o.Stalled = &c.Passed, c.Asked.Dir, c.Others, c.Failed, c.Stalled
	o.Front = func(id broker.SessionID) { c.Activity.Front.Store(&id) }
	o.Focused = func(yes bool) { c.Activity.Away.Store(!yes) }
	o.Used = func() { now := time.Now(); c.Activity.Used.Store(&now) }
	o.Opener = broker.Opener{Keys: c.Asked.Keys, Environment: c.Asked.Environment}
	open := c.Asked.Open
	if open == nil {
		return
	}
	o.Add = !open.Once
	o.Agent, o.Workspace, o.Prompt = open.Agent, open.Workspace, open.Prompt
	if open.Profile != nil {
		o.Profile = broker.Profile(*open.Profile)
	}
	o.Worktree, o.Repo, o.Branch = broker.WorktreeChoice(open.Worktree), open.Repo, open.Branch
	o.Resume = broker.SessionID(open.Resume)
}

// keep makes a view begin with what is kept for its client, and keep its own changes.
func (v *views) keep(ctx context.Context, w wiring.Parts, c daemon.Client, o *tui.Options) {
	o.Arrangement, o.Left = v.kept.of(c), func(a tui.Arrangement) { v.kept.keep(c, a) }
	if !c.Asked.Follows() {
		o.Arrangement.Aside = nil // a person who attaches now has not seen the strip
	}
	o.Arranged = func(a tui.Arrangement) {
		mutes := a.Mutes
		c.Activity.Mutes.Store(&mutes)
		v.kept.note(c, a)
	}
	o.Arranged(o.Arrangement)
	o.Seen, o.KeepSeen = v.seen.now(), v.seen.keep
	o.KeepPrefix = func(key string) error {
		return errors.Join(config.SetPrefix(w.Paths.ConfigFile(), key), v.broker.Refresh(ctx))
	}
}

// prompt asks a person who may only decide about the waiting calls, one after the other.
func prompt(ctx context.Context, c daemon.Client, b *broker.Broker) (end string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	p, err := outer.OpenPrompt(ctx, c.In, c.Out, c.Passed)
	if err != nil {
		cancel()
		return "", err
	}
	defer p.Close()
	defer cancel()
	if _, err := fmt.Fprintln(p, "waiting calls are shown here, one after the other; Ctrl-C leaves"); err != nil {
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
