package config_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

func TestRegistries(t *testing.T) {
	c, err := config.Parse("config.json", []byte(`{"registries": {
		"sources": [{"ecosystem": "npm", "url": "https://npm.example/", "from": "npm config get registry", "aliases": ["https://yarn.example/"],
			"artifacts": ["https://files.example:8443/npm/"], "scopes": ["@acme"], "private": true, "credential": "npmrc"},
			{"ecosystem": "go", "scopes": ["git.acme.example/*"], "private": true}],
		"quarantineHours": {"npm": 0},
		"rules": [{"ecosystem": "npm", "name": "@acme/*", "version": "1.*", "then": "allow"}, {"installScript": true, "youngerThanHours": 720, "then": "ask"}],
		"malicious": ["/srv/osv", "~/osv"], "audit": "off", "offline": "refuse", "newNames": 1, "unknownNames": 0, "cacheGb": 2}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Registries{
		Enabled: true,
		Sources: []config.PackageSource{
			{
				Ecosystem: "npm", URL: "https://npm.example/", From: "npm config get registry", Aliases: []string{"https://yarn.example/"},
				Artifacts: []string{"https://files.example:8443/npm/"}, Scopes: []string{"@acme"}, Private: true, Credential: "npmrc",
			},
			{Ecosystem: "go", Scopes: []string{"git.acme.example/*"}, Private: true},
		},
		QuarantineHours: map[string]int{"npm": 0, "pypi": 72, "cargo": 72, "go": 72, "apt": 0},
		Rules: []config.PackageRule{
			{Ecosystem: "npm", Name: "@acme/*", Version: "1.*", Then: "allow"},
			{InstallScript: true, YoungerThanHours: 720, Then: "ask"},
		},
		Malicious: []string{"/srv/osv", "~/osv"}, Audit: "off", Offline: "refuse", NewNames: 1, UnknownNames: 0, CacheGB: 2,
	}
	if !reflect.DeepEqual(c.Registries, want) {
		t.Errorf("got %+v", c.Registries)
	}
	if config.Default().Registries.QuarantineHours["npm"] != 72 {
		t.Error("a file changed the default")
	}
}

func TestRegistriesAreStrict(t *testing.T) {
	for name, c := range map[string]struct{ text, place string }{
		"unknown ecosystem":       {`{"sources": [{"ecosystem": "gems", "url": "https://a.example/"}]}`, "/registries/sources/0/ecosystem"},
		"neither URL nor scopes":  {`{"sources": [{"ecosystem": "npm"}]}`, "/registries/sources/0"},
		"login in the address":    {`{"sources": [{"ecosystem": "npm", "url": "https://me:secret@a.example/"}]}`, "/registries/sources/0/url"},
		"another scheme":          {`{"sources": [{"ecosystem": "npm", "url": "file:///srv"}]}`, "/registries/sources/0/url"},
		"alias with a query":      {`{"sources": [{"ecosystem": "npm", "url": "https://a.example/", "aliases": ["https://b.example/?x"]}]}`, "/registries/sources/0/aliases/0"},
		"a secret as credential":  {`{"sources": [{"ecosystem": "npm", "url": "https://a.example/", "credential": "s3cret"}]}`, "/registries/sources/0/credential"},
		"negative quarantine":     {`{"quarantineHours": {"npm": -1}}`, "/registries/quarantineHours/npm"},
		"quarantine of what":      {`{"quarantineHours": {"gems": 1}}`, "/registries/quarantineHours/gems"},
		"rule without a decision": {`{"rules": [{"name": "x"}]}`, "/registries/rules/0"},
		"rule that is false":      {`{"rules": [{"installScript": false, "then": "allow"}]}`, "/registries/rules/0/installScript"},
		"relative list":           {`{"malicious": ["osv"]}`, "/registries/malicious/0"},
		"no cache":                {`{"cacheGb": 0}`, "/registries/cacheGb"},
		"half an audit":           {`{"audit": "some"}`, "/registries/audit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("config.json", []byte(`{"registries": `+c.text+`}`))
			if err == nil || !strings.Contains(err.Error(), ": "+c.place+": ") {
				t.Errorf("got %v, want the place %s", err, c.place)
			}
		})
	}
}

// The defaults of the schema's members are those of the code.
func TestSchemaOfRegistriesTellsTheTruth(t *testing.T) {
	type property struct {
		Default    any
		Properties map[string]struct {
			Default    any
			Properties map[string]struct{ Default any }
		}
	}
	var schema struct{ Properties map[string]property }
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(config.Default().Registries)
	if err != nil {
		t.Fatal(err)
	}
	var actual map[string]any
	if err := json.Unmarshal(encoded, &actual); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, p := range schema.Properties["registries"].Properties {
		if p.Default != nil {
			seen++
			if !reflect.DeepEqual(p.Default, actual[name]) {
				t.Errorf("%s: schema says %v, code does %v", name, p.Default, actual[name])
			}
		}
		for inner, q := range p.Properties {
			seen++
			if got := actual[name].(map[string]any)[inner]; !reflect.DeepEqual(q.Default, got) {
				t.Errorf("%s/%s: schema says %v, code does %v", name, inner, q.Default, got)
			}
		}
	}
	if seen != 11 {
		t.Errorf("%d defaults were compared", seen)
	}
}
