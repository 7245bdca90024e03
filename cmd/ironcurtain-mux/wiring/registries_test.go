package wiring

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
)

func TestRegistriesOfAContainer(t *testing.T) {
	sources := []learn.Source{
		{Ecosystem: "npm", URL: "https://npm.acme.example/", Scopes: []string{"@acme", "@zoo"}},
		{Ecosystem: "npm", URL: "http://127.0.0.1:4873/", Aliases: []string{"http://localhost/", "https://old.example/"}},
		{Ecosystem: "npm", URL: "https://second.example/"},
		{Ecosystem: "pypi", URL: "https://py.example/simple/"},
		{Ecosystem: "pypi", URL: "http://[::1]/simple/"},
		{Ecosystem: "pypi", URL: "https://root.example/"},
		{Ecosystem: "go", URL: "https://go.example/", Keys: []string{"key"}},
		{Ecosystem: "go", URL: "https://go2.example/", Keys: []string{"other"}},
		{Ecosystem: "go", Scopes: []string{"git.acme.example/*"}},
		{Ecosystem: "cargo", URL: "https://own.example/", From: "config.json"},
		{Ecosystem: "cargo", URL: "https://index.example/"},
		{Ecosystem: "cargo", URL: "https://index.acme.example/", Name: "acme"},
		{Ecosystem: "apt", URL: "http://10.1.2.3/debian/", Suites: []string{"trixie main", "trixie-updates main contrib"}},
	}
	want := agent.Registries{
		NPM: "http://127-0-0-1.address.invalid:4873/", Yarn: "http://localhost.address.invalid/",
		NPMScopes: map[string]string{"@acme": "https://npm.acme.example/", "@zoo": "https://npm.acme.example/"},
		PyPI:      []string{"https://py.example/simple/", "http://0000-0000-0000-0000-0000-0000-0000-0001.address.invalid/simple/", "https://root.example/simple/"},
		Go:        []string{"https://go.example/", "https://go2.example/"}, GoSum: "key", GoPrivate: []string{"git.acme.example/*"},
		Cargo:      "https://index.example/",
		CargoNamed: map[string]string{"acme": "https://index.acme.example/"},
		Apt:        true,
		AptSources: []string{"http://10-1-2-3.address.invalid/debian/ trixie main", "http://10-1-2-3.address.invalid/debian/ trixie-updates main contrib"},
	}
	got, err := RegistriesOf(sources, "https://own.example/")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	learned := []learn.Source{{Ecosystem: "cargo", URL: "https://own.example/", From: learn.CargoDefault}}
	if got, err := RegistriesOf(learned, ""); got.Cargo != "" || err != nil {
		t.Errorf("Cargo's own address stands in for itself: %+v, %v", got, err)
	}
	if got := CargoAddress(learned); got != "https://own.example/" || CargoAddress(sources) != "" {
		t.Errorf("Cargo's own address is %q", got)
	}
	if _, err := RegistriesOf([]learn.Source{{Ecosystem: "npm", URL: "x"}}, ""); err == nil {
		t.Error("what is no address was taken")
	}
}

// The first start learns. Later ones take what was stored, whatever the tools say by then.
func TestTheFirstStartLearns(t *testing.T) {
	p := Paths{Home: t.TempDir(), UserHome: t.TempDir()}
	t.Setenv("PATH", t.TempDir()) // no tools
	first, notes, err := p.PackageSources(t.Context(), config.Default())
	if len(first)+len(notes) != 0 || err != nil {
		t.Fatal(first, notes, err)
	}
	if _, known, err := learn.Load(p.RegistriesFile()); !known || err != nil {
		t.Errorf("nothing was stored: %v", err)
	}
	stored := []learn.Source{{Ecosystem: "npm", URL: "https://npm.example/"}, {Ecosystem: "go", URL: "https://go.example/"}}
	if err := learn.Save(p.RegistriesFile(), stored); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Registries.Sources = []learn.Source{{Ecosystem: "npm", URL: "https://mine.example/"}}
	got, _, err := p.PackageSources(t.Context(), c)
	if diff := cmp.Diff([]learn.Source{c.Registries.Sources[0], stored[1]}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	c.Registries.Enabled = false
	if got, _, err := p.PackageSources(t.Context(), c); got != nil || err != nil {
		t.Errorf("switched off: %v, %v", got, err)
	}
}

// A registry that a tool has come to name is told and not followed; those that agents use, and
// those of an ecosystem that config.json decides, are not told.
func TestOtherRegistriesAreNamed(t *testing.T) {
	p, tools := Paths{Home: t.TempDir(), UserHome: t.TempDir()}, t.TempDir()
	t.Setenv("PATH", tools)
	npm := "#!/bin/sh\n[ \"$*\" = 'config get registry' ] && echo http://192.0.2.1/\nexit 0\n"
	if err := os.WriteFile(filepath.Join(tools, "npm"), []byte(npm), 0o700); err != nil {
		t.Fatal(err)
	}
	decided := config.Default()
	decided.Registries.Sources = []learn.Source{{Ecosystem: "npm", URL: "https://mine.example/"}}
	for name, tc := range map[string]struct {
		config config.Config
		used   []learn.Source
		tells  bool
	}{
		"another":               {config.Default(), []learn.Source{{Ecosystem: "npm", URL: "https://npm.example/"}}, true},
		"the same":              {config.Default(), []learn.Source{{Ecosystem: "npm", URL: "http://192.0.2.1/"}}, false},
		"config.json names one": {decided, decided.Registries.Sources, false},
	} {
		t.Run(name, func(t *testing.T) {
			text := p.newSources(t.Context(), tc.config, tc.used, slog.New(slog.DiscardHandler))
			if strings.Contains(text, "npm http://192.0.2.1/; 'ironcurtain-mux registry learn'") != tc.tells || !tc.tells && text != "" {
				t.Errorf("%q", text)
			}
		})
	}
}
