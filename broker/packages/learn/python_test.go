package learn

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPipConfig(t *testing.T) {
	for name, c := range map[string]struct {
		printed string
		want    []index
	}{
		"nothing":            {"", nil},
		"global":             {"global.index-url='https://py.example/simple'\nglobal.cert='/x'\n", []index{pip("https://py.example/simple", false)}},
		"of install":         {"global.index-url='https://a.example'\ninstall.index-url='https://b.example'", []index{pip("https://b.example", false)}},
		"environment":        {":env:.index-url='https://c.example'\ninstall.index-url='https://b.example'", []index{pip("https://c.example", false)}},
		"more":               {`global.extra-index-url='\nhttps://a.example\nhttps://b.example'`, []index{pip("https://a.example", true), pip("https://b.example", true)}},
		"in other quotes":    {`global.index-url="https://it's.example"`, []index{pip("https://it's.example", false)}},
		"with odd escapes":   {`global.index-url='https://\x41.example'`, nil},
		"without an end":     {`global.index-url='https://a.example`, nil},
		"escaped end":        {`global.index-url='https://a.example\'`, nil},
		"of another command": {`download.index-url='https://a.example'`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, readPipConfig(c.printed).indexes(), cmp.AllowUnexported(index{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func pip(raw string, extra bool) index {
	return index{raw: raw, from: "pip config list", credential: "pip", extra: extra}
}

func FuzzPipConfig(f *testing.F) {
	f.Add("global.index-url='https://py.example/simple'\n:env:.extra-index-url='a\\nb'")
	f.Fuzz(func(t *testing.T, printed string) {
		for _, i := range readPipConfig(printed).indexes() {
			if i.raw == "" {
				t.Error("an index without an address")
			}
		}
	})
}

func TestUvIndexes(t *testing.T) {
	home, system := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".config/uv/uv.toml"), `
[[index]]
name = "acme"
url = "https://acme.example/simple"
[[index]]
url = "https://main.example/simple"
default = true
`)
	write(t, filepath.Join(system, "etc/uv/uv.toml"), `index-url = "https://system.example/simple"
extra-index-url = ["https://more.example/simple"]`)
	got := Host{Home: home, System: system, Env: []string{"UV_DEFAULT_INDEX=named=https://env.example/simple", "UV_INDEX=x=https://one.example https://two.example/?a=b"}}.uvIndexes()
	var addresses []string
	for _, i := range got {
		addresses = append(addresses, i.raw)
	}
	want := []string{
		"https://env.example/simple", "https://main.example/simple", "https://system.example/simple",
		"https://one.example", "https://two.example/?a=b", "https://acme.example/simple", "https://more.example/simple",
	}
	if diff := cmp.Diff(want, addresses); diff != "" {
		t.Error(diff)
	}
	write(t, filepath.Join(home, ".config/uv/uv.toml"), `index-url = [`)
	if got := (Host{Home: home, System: home}).uvIndexes(); got != nil {
		t.Errorf("of a broken file: %v", got)
	}
}
