package registry_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/apt"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// forgetful is an apt.Seen that remembers nothing.
type forgetful struct{}

func (forgetful) Distributions(string) []apt.Distribution { return nil }

func (forgetful) Remember(string, apt.Distribution) error { return nil }

// A distribution's name is data as a package's is: it is admitted and recorded before it leaves.
func TestDistributionsAreAdmittedAndRecordedFirst(t *testing.T) {
	repo := forged.NewApt(t)
	repo.Put("dists/stable/main/binary-amd64/Packages", nil)
	repo.Publish(t, "stable")
	kept, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base, _ := url.Parse("http://repo.example/")
	root, _ := url.Parse(strings.TrimSuffix(repo.URL.String(), "/"))
	plane, err := registry.New(registry.Config{
		Store: kept, Ecosystems: []registry.Ecosystem{apt.New(forgetful{})},
		Origins:   []*registry.Origin{{Ecosystem: "apt", URL: base, Keys: []string{repo.Keyring}}},
		Upstreams: map[string]*url.URL{"repo.example": root},
		Limits:    registry.Limits{Fresh: time.Nanosecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer plane.Close()
	var recorded, admitted []string // while nothing more was asked for
	before := 0
	session := plane.NewSession(registry.SessionConfig{
		Judge: func(registry.Package) registry.Verdict { return registry.Verdict{Then: registry.Allow} },
		Record: func(r registry.Record) error {
			if len(repo.Requests()) == before && r.Decision == "allow" {
				recorded = append(recorded, r.Path)
			}
			return nil
		},
		Note: func(registry.Record) {},
		Admit: func(_ context.Context, _ *registry.Origin, p registry.Pin) error {
			if admitted = append(admitted, p.Name); strings.Contains(p.Name, "denied") {
				return registry.Refuse(403, registry.ReasonNames, "too many names")
			}
			return nil
		},
	})
	defer session.Close()
	for _, c := range []struct {
		path, admitted string
		status         int
	}{
		{"dists/stable/InRelease", "dists/stable", 200},
		{"dists/secret1/InRelease", "dists/secret1", 404},
		{"dists/secret2/Release", "dists/secret2", 404},
		{"dists/secret3/main/binary-amd64/Packages.xz", "dists/secret3 dists/secret3/main", 404},
		{"dists/denied/InRelease", "dists/denied", 403},
		{"dists/stable/InRelease", "", 200}, // it is known now
	} {
		recorded, admitted, before = nil, nil, len(repo.Requests())
		a := &answer{}
		if err := session.Serve(t.Context(), &registry.HTTPRequest{Method: "GET", Authority: "http://repo.example:80", Path: "/" + c.path}, a); err != nil {
			t.Fatal(err)
		}
		if a.status != c.status || strings.Join(admitted, " ") != c.admitted {
			t.Errorf("%s: %d %s, admitted %q", c.path, a.status, a.phrase, admitted)
		}
		if first := len(recorded) > 0 && strings.HasSuffix(recorded[0], c.path); first == (c.admitted == "" || c.status == 403) {
			t.Errorf("%s: recorded before it left: %q", c.path, recorded)
		}
		if asked := repo.Requests()[before:]; c.status == 403 && len(asked) > 0 {
			t.Errorf("the repository was asked: %q", asked)
		}
	}
}
