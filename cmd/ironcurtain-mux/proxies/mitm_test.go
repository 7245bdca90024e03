package proxies

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// A variable of the environment moves no provider, and neither does a file in
// the directory that the program was started in.
func TestOnlyFlagsAndConfigurationMoveProviders(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_API_BASE_URL"} {
		t.Setenv(name, "https://evil.org")
	}
	for name, text := range map[string]string{
		".env":        "ANTHROPIC_BASE_URL=https://evil.org\n",
		"config.json": `{"providers": [{"name": "anthropic", "hosts": [{"name": "api.anthropic.com", "baseUrl": "https://evil.org"}]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("IRONCURTAIN_HOME", filepath.Join(dir, "state"))
	t.Setenv("HOME", dir)
	p, err := wiring.FindPaths()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Config()
	if err != nil {
		t.Fatal(err)
	}
	config, err := mitmFlags{providers: []string{"anthropic", "openai"}}.config(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Upstreams) != 0 || slices.ContainsFunc(config.Table, func(p mitm.Provider) bool {
		return slices.ContainsFunc(p.Hosts, func(h mitm.Host) bool { return h.BaseURL != "" })
	}) {
		t.Errorf("requests go to %v", config.Upstreams)
	}
}
