package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// A session keeps its profile, unless its agent could change what the profile is read from.
func TestAnAgentCannotChangeItsProfile(t *testing.T) {
	r := newTermsRig(t)
	work := filepath.Join(filepath.Dir(r.dir), "work")
	r.write(filepath.Join(work, "servers.json"), []byte("{}"))
	for path, refused := range map[string]bool{
		filepath.Join(work, "servers.json"): true,
		filepath.Join(stored.LayoutOf(r.deps.Config.Home, "0b5b8b3e-0000-4000-8000-000000000000").Sandbox(), "x"): true,
		filepath.Join(r.dir, "servers.json"): false,
	} {
		for _, p := range []stored.Profile{{Policy: path}, {Servers: path}, {UpstreamCA: path}} {
			s, err := New(r.deps, Request{Agent: "shell", Workspace: work, Profile: p})
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), "in a directory that an agent can write to")):
				t.Errorf("%v: %v", p, err)
			case !refused && err != nil:
				t.Errorf("%v: %v", p, err)
			case !refused && !s.Info().Profile.Same(p):
				t.Errorf("%v: the session has %v", p, s.Info().Profile)
			}
		}
	}
}
