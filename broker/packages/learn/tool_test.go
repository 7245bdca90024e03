package learn

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVariablesThatAreNeeded(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".npmrc"), "//a.example/:_authToken=${ACME_TOKEN}\n//b.example/:_authToken=${MAYBE?}\n")
	h := Host{Home: home, Env: []string{"PATH=/bin", "PIP_INDEX_URL=x", "npm_config_registry=y", "GOPROXY=z", "GOOGLE_API_KEY=secret", "SECRET=s", "CARGO_REGISTRIES_ACME_TOKEN=t", "odd"}}
	want := []string{"ACME_TOKEN", "CARGO_REGISTRIES_ACME_TOKEN", "GOPROXY", "MAYBE", "PATH", "PIP_INDEX_URL", "npm_config_registry"}
	if diff := cmp.Diff(want, h.Variables()); diff != "" {
		t.Error(diff)
	}
	h.Env = []string{"npm_config_userconfig=" + filepath.Join(home, "none")}
	if diff := cmp.Diff([]string{"npm_config_userconfig"}, h.Variables()); diff != "" {
		t.Error(diff)
	}
}

func TestCleanEnvironment(t *testing.T) {
	h := Host{Env: []string{"HOME=/home/me", "PATH=/bin:relative::/usr/bin", "SECRET=s", "NODE_OPTIONS=--require=x", "LD_PRELOAD=x"}}
	if diff := cmp.Diff([]string{"HOME=/home/me", "PATH=/bin:/usr/bin"}, h.environment()[:2]); diff != "" {
		t.Error(diff)
	}
	if got := h.environment("MORE=1"); len(got) != 2+len(quiet)+1 || got[len(got)-1] != "MORE=1" {
		t.Errorf("the environment is %q", got)
	}
}
