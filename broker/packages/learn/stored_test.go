package learn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

var some = []Source{
	{Ecosystem: NPM, URL: "https://npm.example/", From: "npm config get registry", Aliases: []string{"https://yarn.example/"}, Artifacts: []string{"https://files.example/npm/"}},
	{Ecosystem: NPM, URL: "https://npm.acme.example/", From: "npmrc", Scopes: []string{"@acme"}, Private: true, Credential: "npmrc"},
	{Ecosystem: Go, From: "go env GOPRIVATE", Scopes: []string{"git.acme.example/*"}, Private: true},
	{Ecosystem: Cargo, URL: "https://index.example/", Name: "acme", Keys: []string{"k"}},
}

func TestWhatWasLearnedIsKept(t *testing.T) {
	path := File(filepath.Join(t.TempDir(), "state"))
	if got, known, err := Load(path); got != nil || known || err != nil {
		t.Fatal(got, known, err)
	}
	if err := Save(path, some); err != nil {
		t.Fatal(err)
	}
	got, known, err := Load(path)
	if diff := cmp.Diff(some, got); diff != "" || !known || err != nil {
		t.Error(known, err, diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Save(path, nil); err != nil {
		t.Fatal(err)
	}
	if got, known, err := Load(path); len(got) != 0 || !known || err != nil {
		t.Error(got, known, err)
	}
}

// config.json takes what was learned as it is kept.
func TestConfigurationTakesWhatWasLearned(t *testing.T) {
	path := File(t.TempDir())
	if err := Save(path, some); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("config.json", []byte(`{"registries": `+string(data)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(some, c.Registries.Sources); diff != "" {
		t.Error(diff)
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"cut off":           `{"sources": [`,
		"unknown member":    `{"sources": [], "more": 1}`,
		"unknown of source": `{"sources": [{"ecosystem": "npm", "url": "https://a.example/", "secret": "x"}]}`,
		"twice":             `{"sources": [], "sources": []}`,
		"unknown ecosystem": `{"sources": [{"ecosystem": "gems", "url": "https://a.example/"}]}`,
		"no address":        `{"sources": [{"ecosystem": "npm"}]}`,
		"with a login":      `{"sources": [{"ecosystem": "npm", "url": "https://a:b@a.example/"}]}`,
		"without a slash":   `{"sources": [{"ecosystem": "npm", "url": "https://a.example"}]}`,
		"a broken alias":    `{"sources": [{"ecosystem": "npm", "url": "https://a.example/", "aliases": ["b"]}]}`,
		"a broken base":     `{"sources": [{"ecosystem": "npm", "url": "https://a.example/", "artifacts": [""]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := File(t.TempDir())
			write(t, path, text)
			got, known, err := Load(path)
			if got != nil || known || err == nil || !strings.Contains(fault.Hint(err), "registry learn --write") {
				t.Errorf("got %v, %v, %v", got, known, err)
			}
		})
	}
}

func TestConfigurationReplacesAnEcosystem(t *testing.T) {
	mine := []Source{{Ecosystem: NPM, URL: "https://mine.example", Aliases: []string{"https://also.example"}}}
	want := []Source{{Ecosystem: NPM, URL: "https://mine.example/", Aliases: []string{"https://also.example/"}}, some[2], some[3]}
	if diff := cmp.Diff(want, Effective(mine, some)); diff != "" {
		t.Error(diff)
	}
	if mine[0].URL != "https://mine.example" || mine[0].Aliases[0] != "https://also.example" {
		t.Error("the configuration was changed")
	}
	if diff := cmp.Diff(some, Effective(nil, some)); diff != "" {
		t.Error(diff)
	}
	learned := []Source{{Ecosystem: Go, URL: "https://go.example/", Artifacts: []string{"https://files.example/"}, Keys: []string{"sums"}, Credential: "netrc"}}
	for _, c := range []struct{ mine, want Source }{
		{Source{Ecosystem: Go, URL: "https://go.example", Private: true}, Source{Ecosystem: Go, URL: "https://go.example/", Private: true, Artifacts: []string{"https://files.example/"}, Keys: []string{"sums"}}},
		{Source{Ecosystem: Go, URL: "https://go.example/", Keys: []string{"mine"}}, Source{Ecosystem: Go, URL: "https://go.example/", Artifacts: []string{"https://files.example/"}, Keys: []string{"mine"}}},
		{Source{Ecosystem: Go, URL: "https://other.example/"}, Source{Ecosystem: Go, URL: "https://other.example/"}},
	} {
		if diff := cmp.Diff([]Source{c.want}, Effective([]Source{c.mine}, learned)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDifferences(t *testing.T) {
	changed := some[0]
	changed.From, changed.Aliases, changed.Credential, changed.Private = "somebody else", nil, "npmrc", true
	named := some[3]
	named.Name = "other"
	got := Differences(some, []Source{changed, some[2], named})
	want := []Difference{
		{Sign: '~', Source: changed, Changes: []string{"aliases: https://yarn.example/ -> none", "private: false -> true", "credential: none -> npmrc"}},
		{Sign: '+', Source: named},
		{Sign: '-', Source: some[1]},
		{Sign: '-', Source: some[3]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again := some[0]
	again.From = "somebody else"
	if got := Differences(some[:1], []Source{again}); got != nil {
		t.Errorf("who names it makes a difference: %v", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"sources": [{"ecosystem": "npm", "url": "https://a.example/"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := File(t.TempDir())
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		sources, known, err := Load(path)
		if err != nil {
			return
		}
		if err := Save(path, sources); err != nil || !known {
			t.Fatal(known, err)
		}
		again, _, err := Load(path)
		if diff := Differences(sources, again); len(diff) > 0 || err != nil {
			t.Error(diff, err)
		}
	})
}

// write makes a file and its directories.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
