package broker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// A configuration that is read again is that of new sessions; an open one goes on as it is, until a
// person has seen what a policy changes there, too, and put it in force.
func TestSettingsAreReadAgain(t *testing.T) {
	b, open := admitting(t)
	if err := b.Reload(t.Context()); err == nil {
		t.Error("a process that reads its configuration only once reads it again")
	}
	compiled, annotations := policy.Default()
	b.config.Compiled, b.config.Annotations = compiled, annotations
	loose := &policy.Compiled{Rules: slices.Clone(compiled.Rules[1:])}
	next, broken := b.config, error(nil)
	next.MaxSessions, next.Compiled = 2, loose
	next.LoadPolicy = func() (policy.Files, error) { return policy.Files{Policy: loose, Annotations: annotations}, nil }
	b.config.Reload = func() (Config, error) { return next, broken }
	b.deps().Know("added", servers.Config{})

	broken = fault.New("fix that line", "config.json:1: there is no setting of this name")
	err := b.Reload(t.Context())
	if err == nil || err.Error() != "read config.json again: config.json:1: there is no setting of this name" || fault.Hint(err) != "fix that line" || !errors.Is(err, broken) {
		t.Errorf("%v (%s)", err, fault.Hint(err))
	}
	admitted(t, b, OpenRequest{}, "one session runs already")
	broken = nil
	next.PolicyFiles = []string{filepath.Join(open.Info().Workspace, "compiled-policy.json")}
	if err := b.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "can change") {
		t.Errorf("a policy where an agent works: %v", err)
	}
	next.PolicyFiles = nil
	if err := b.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := admitted(t, b, OpenRequest{}, "")
	admitted(t, b, OpenRequest{}, "2 sessions run already")
	if open.PolicyInForce().Policy != compiled || fresh.PolicyInForce().Policy != loose {
		t.Error("the sessions have other policies")
	}
	if b.settings.Load().servers.Load() != nil {
		t.Error("a server that was added before is not read from config.json")
	}

	review, err := b.ReviewPolicy(t.Context())
	if err != nil || len(review.Difference) != 1 || !strings.Contains(review.Difference[0], compiled.Rules[0].Name) {
		t.Fatalf("%+v, %v", review, err)
	}
	if n, err := b.ApplyPolicy(t.Context(), review.Hash); n != 2 || err != nil {
		t.Errorf("%d sessions, %v", n, err)
	}
	if open.PolicyInForce().Policy != loose {
		t.Error("the policy is not in force for the session that was open")
	}
	if review, err = b.ReviewPolicy(t.Context()); err != nil || len(review.Difference) != 0 {
		t.Errorf("%+v, %v", review, err)
	}
	if err := b.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ApplyPolicy(t.Context(), review.Hash); err == nil {
		t.Error("a policy that was shown for the former configuration is put in force")
	}
}

// config.json is read again for the next session when the file has changed, and only then.
func TestSettingsFollowTheFile(t *testing.T) {
	read, broken := 0, error(nil)
	c := Config{Home: shortTemp(t), Agents: agent.Builtin(), DefaultAgent: "shell", Log: slog.New(slog.DiscardHandler)}
	c.ConfigFile = filepath.Join(c.Home, "config.json")
	c.Reload = func() (Config, error) { read++; return c, broken }
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Shutdown(context.WithoutCancel(t.Context())) })
	refresh := func(step string, want int, failed bool) {
		t.Helper()
		if err := b.Refresh(t.Context()); (err != nil) != failed || read != want {
			t.Errorf("%s: read %d times, want %d: %v", step, read, want, err)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(c.ConfigFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refresh("no file", 0, false)
	write("{}")
	refresh("a new file", 1, false)
	refresh("the same file", 1, false)
	write("{ ")
	broken = errors.New("it is broken")
	refresh("a broken file", 2, true)
	told := func(want int) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events, err := b.Subscribe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if text := b.Outdated(broken); !strings.Contains(text, "it is broken") {
				t.Errorf("%q", text)
			}
		}
		if n := len(events); n != want {
			t.Errorf("the person was told %d times, want %d", n, want)
		}
	}
	told(1)
	told(0)
	write("{  ")
	told(1)
	refresh("still a broken file", 3, true)
	broken = nil
	write("{  }")
	refresh("a fixed file", 4, false)
	if err := os.Remove(c.ConfigFile); err != nil {
		t.Fatal(err)
	}
	refresh("a file that is gone", 5, false)
	refresh("no file", 5, false)
}

// The agents are those of the present config.json, as those of the next session.
func TestAgentsFollowTheFile(t *testing.T) {
	c := Config{Home: shortTemp(t), Agents: agent.Builtin(), DefaultAgent: "shell", Log: slog.New(slog.DiscardHandler)}
	c.ConfigFile = filepath.Join(c.Home, "config.json")
	own, err := agent.NewRegistry(agent.Adapter{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	c.Reload = func() (Config, error) {
		again := c
		again.Agents = own
		return again, nil
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Shutdown(context.WithoutCancel(t.Context())) })
	for _, known := range []bool{false, true} {
		all, err := b.Agents(t.Context())
		if err != nil || slices.ContainsFunc(all, func(a Agent) bool { return a.Name == "mine" }) != known {
			t.Errorf("known %t: %+v, %v", known, all, err)
		}
		if err := os.WriteFile(c.ConfigFile, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
