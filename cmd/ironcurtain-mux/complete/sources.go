package complete

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers/imported"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// Filters for sessions.
func every(stored.Entry) bool     { return true }
func shown(s stored.Entry) bool   { return s.Owned && s.Tab > 0 }
func resting(s stored.Entry) bool { return !s.Owned }
func ongoing(s stored.Entry) bool { return s.Owned || s.Detached }
func copied(s stored.Entry) bool  { return s.Origin != "" }

// sessions completes the sessions on disk that fit, last used first, with the daemon's state of each.
func sessions(fits func(stored.Entry) bool) source {
	return func(ctx context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
		all, _ := stored.List(p.Home, nil)
		live := map[stored.ID]broker.Session{}
		ask(ctx, p, func(ctx context.Context, c *calls.Client) error {
			list, err := c.Sessions(ctx)
			for _, s := range list {
				live[s.ID] = s
			}
			return err
		})
		for _, s := range all {
			if now, runs := live[s.ID]; runs {
				s.Session, s.Owned = now, true
			}
			if fits(s) {
				out = append(out, one(stored.ShortID(s.ID), "%s, %s, %s ago, %s", s.Agent, s.StateWords(), ago(s.LastActivity), p.Shorten(s.Place())))
			}
		}
		return out
	}
}

// ago returns how long ago a time was, in one unit.
func ago(at time.Time) string {
	d := time.Since(at)
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= unit {
			return timespan.String(d.Truncate(unit))
		}
	}
	return timespan.String(d.Truncate(time.Second))
}

// left returns how long it is until a time.
func left(until time.Time) string { return timespan.String(time.Until(until).Round(time.Second)) }

// waiting completes the ids of waiting calls. Their numbers would be shorter, but do not show on the
// command line which call is meant.
func waiting(ctx context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
	ask(ctx, p, func(ctx context.Context, c *calls.Client) error {
		list, err := c.Pending(ctx)
		for _, e := range list {
			out = append(out, one(e.ID, "#%d %s/%s of %s, %s left: %s", e.Number, e.Server, e.Tool, e.Agent, left(e.ExpiresAt), e.Arguments))
		}
		return err
	})
	return out
}

// scopes completes the scopes within which an approval of the named call can be remembered.
func scopes(ctx context.Context, p wiring.Paths, given []string) (out []cobra.Completion) {
	if len(given) == 0 {
		return nil
	}
	ask(ctx, p, func(ctx context.Context, c *calls.Client) error {
		e, found, err := running.WaitingCall(ctx, c, given[0])
		if !found {
			return err
		}
		all, err := c.Scopes(ctx, e.ID)
		for _, s := range all {
			out = append(out, one(s.Name, "%s", s.Text))
		}
		return err
	})
	return out
}

// grants completes the numbers of the grants in force.
func grants(ctx context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
	ask(ctx, p, func(ctx context.Context, c *calls.Client) error {
		list, err := c.Grants(ctx)
		for _, g := range list {
			out = append(out, one(strconv.Itoa(g.Number), "%s of %s, %s left: %s", g.Scope, g.Agent, left(g.ExpiresAt), g.Text))
		}
		return err
	})
	if len(out) > 0 {
		out = append(out, one("all", "all grants"))
	}
	return out
}

// tokens completes the names of answer tokens.
func tokens(ctx context.Context, _ wiring.Paths, _ []string) (out []cobra.Completion) {
	_, o, err := running.ClientOptions()
	if err != nil {
		return nil
	}
	list, _ := client.Tokens(ctx, o)
	for _, t := range list {
		may := "approves and denies"
		if t.DenyOnly {
			may = "denies"
		}
		out = append(out, one(t.Name, "%s, until %s", may, t.Expires.Local().Format(time.DateTime)))
	}
	return out
}

// clients completes the ids of the terminals that show the multiplexer.
func clients(ctx context.Context, _ wiring.Paths, _ []string) (out []cobra.Completion) {
	_, o, err := running.ClientOptions()
	if err != nil {
		return nil
	}
	list, _ := client.Clients(ctx, o)
	for _, c := range list {
		out = append(out, one(c.ID, "%s %s", c.Name, c.Terminal))
	}
	return out
}

// agents completes the program's agents and those of the configuration.
func agents(_ context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
	for _, a := range p.Agents().All() {
		out = append(out, one(a.Name, "%s", a.Title))
	}
	return out
}

// engines completes the contexts of the docker command.
func engines(_ context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
	for _, c := range docker.Contexts(os.Getenv, p.UserHome) {
		out = append(out, one(c.Name, "%s", c.Address))
	}
	return out
}

// servers completes the person's own servers over HTTP that need a login.
func servers(context.Context, wiring.Paths, []string) (out []cobra.Completion) {
	p, c, err := wiring.LoadConfig()
	if err != nil {
		return nil
	}
	own, _ := wiring.OwnServers(c, p.ConfigFile(), "", p.Agents())
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if s := own[name]; s.Remote() != nil && s.LogsIn() {
			out = append(out, one(name, "%s", s.URL))
		}
	}
	return out
}

// importable completes the servers in the configurations of other agents.
func importable(_ context.Context, p wiring.Paths, _ []string) (out []cobra.Completion) {
	found, _ := imported.Find(p.UserHome)
	for _, s := range found {
		out = append(out, one(s.Name, "%s: %s", s.From, s.What()))
	}
	return out
}
