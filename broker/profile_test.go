package broker

import (
	"context"
	"errors"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// What a session with a profile has is its own: neither the policy in force nor a server that was
// added reaches it. Why a profile cannot be had is said by the open that asked for it.
func TestWhatASessionWithAProfileHas(t *testing.T) {
	b, _ := admitting(t)
	asked := 0
	b.config.OfProfile = func(_ context.Context, p Profile) (Config, error) {
		asked++
		if p.Policy != "/strict" {
			return Config{}, fault.New("name another directory", "load policy: there is none")
		}
		own := b.config
		own.Servers = map[string]servers.Config{"theirs": {}}
		return own, nil
	}
	b.deps().Know("added", servers.Config{})
	d, err := b.depsOf(t.Context(), OpenRequest{Profile: Profile{Policy: "/strict"}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Policy != nil || d.Servers.Load() != nil || d.Config.Servers["theirs"].Command != "" || len(d.Config.Servers) != 1 {
		t.Errorf("%+v", d)
	}
	d.Know("more", servers.Config{})
	if n := len(*d.Servers.Load()); n != 2 || len(*b.settings.Load().servers.Load()) != 1 {
		t.Errorf("%d servers, and %d of other sessions", n, len(*b.settings.Load().servers.Load()))
	}
	_, err = b.Open(t.Context(), OpenRequest{Profile: Profile{Policy: "/none"}})
	if err == nil || err.Error() != "open session: load policy: there is none" || fault.Hint(err) != "name another directory" {
		t.Errorf("%v (%s)", err, fault.Hint(err))
	}
	if _, err := b.depsOf(t.Context(), OpenRequest{}); err != nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	b.config.OfProfile = nil
	if _, err := b.depsOf(t.Context(), OpenRequest{Profile: Profile{Demo: true}}); err == nil || errors.Is(err, ErrNotAlone) {
		t.Error(err)
	}
}
