package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/body"
)

// What stands in the built-in table could stand in config.json, too: the schema
// knows every member and every wire format.
func TestSchemaDescribesTheProviderTable(t *testing.T) {
	text, err := json.Marshal(map[string]any{"providers": mitm.Providers()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("config.json", text)
	if err != nil {
		t.Fatal(err)
	}
	table, err := wiring.ProvidersOf(c)
	if err != nil || len(table) != len(mitm.Providers()) {
		t.Errorf("%d providers, %v", len(table), err)
	}
	for _, f := range body.Formats() {
		if !strings.Contains(string(config.Schema()), `"`+string(f)+`"`) {
			t.Errorf("the schema does not know the format %s", f)
		}
	}
}

func TestConfigCheckJudgesProviders(t *testing.T) {
	home := t.TempDir()
	t.Setenv("IRONCURTAIN_HOME", home)
	t.Setenv("HOME", home)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func() (int, string) {
		var stderr bytes.Buffer
		code := run(t.Context(), []string{"config", "check"}, strings.NewReader(""), io.Discard, &stderr)
		return code, stderr.String()
	}
	write(`{"providers": [{"name": "anthropic", "hosts": [{"name": "api.anthropic.com", "baseUrl": "https://gate.acme.dev", "endpoints": [{"method": "POST", "path": "/v1/messages", "ask": true}]}]}]}`)
	if code, stderr := check(); code != cli.ExitOK {
		t.Error(stderr)
	}
	write(`{"providers": [{"name": "anthropic", "hosts": [{"name": "api.openai.com"}]}]}`)
	if code, stderr := check(); code != cli.ExitFailure || !strings.Contains(stderr, "api.openai.com belongs to") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
