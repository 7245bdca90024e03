package cargo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// Whatever path is accepted leads to where it says, and only versions that are ones are read.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"config.json", "1/a", "3/a/abc", "se/rd/serde", "serde/1.0.0/download", "a/a-1.0.0-rc.1+x.crate", "a/1.0.0.crate"} {
		f.Add(path, true)
		f.Add(path, false)
	}
	f.Fuzz(func(t *testing.T, path string, archives bool) {
		o := crates(t)
		r := &registry.Request{Method: "GET", Base: o.URL, Path: path}
		if archives {
			r.Base = o.Artifacts[0]
		}
		a, err := Ecosystem{}.Parse(o, r)
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		if a.Path != path || !cleanPath(path) || a.Kind != registry.Plain && !isName(a.Name) {
			t.Errorf("%q: %+v", path, a)
		}
		if a.Kind == registry.Metadata && (archives || strings.ToLower(path) != path) {
			t.Errorf("%q is a document", path)
		}
	})
}

// What is written names no hidden version, and every other one that was read. encoding/json
// is the oracle.
func FuzzIndex(f *testing.F) {
	f.Add(line("foo", "1.0.0", "") + "\n" + line("foo", "2.0.0-rc.1", `,"pubtime":"2026-01-02T03:04:05Z"`))
	f.Add(strings.Replace(line("Foo", "1.0.0", ""), "[]", `[{"name":"a","kind":"dev"}]`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		u := upstream{"config.json": plainConfig, "3/f/foo": text}
		got, facts, err := ask(t, u, "https://index.example/", "3/f/foo", "1.0.0")
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		want := len(facts.Versions)
		if facts.Version("1.0.0") != nil {
			want--
		}
		for line := range strings.Lines(got) {
			var v struct {
				Name string `json:"name"`
				Vers string `json:"vers"`
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil || v.Vers == "1.0.0" || v.Name != facts.Name || facts.Version(v.Vers) == nil {
				t.Errorf("%v: %q", err, line)
			}
			want--
		}
		if want != 0 {
			t.Errorf("%d lines are missing", want)
		}
	})
}

func FuzzConfig(f *testing.F) {
	f.Add(plainConfig)
	f.Add(`{"dl":"https://static.example/crates/{prefix}/{crate}-{version}.crate","auth-required":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		o := crates(t)
		c, err := readConfig(o, &registry.Document{Data: []byte(text)})
		if err != nil {
			return
		}
		address, err := c.address(o, "foo", "1.0.0", sha)
		if err != nil {
			return
		}
		if name, version, ok := crateOf(strings.TrimPrefix(address, baseOf(o, address))); baseOf(o, address) == "" || !ok || name != "foo" || version != "1.0.0" {
			t.Errorf("%q: %s", text, address)
		}
	})
}

func FuzzInspect(f *testing.F) {
	f.Add(packed(f, "foo-1.0.0/Cargo.toml", "[package]\nname = \"foo\"\nversion = \"1.0.0\"\nbuild = 'x.rs'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := inspect(data)
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		for _, s := range in.Scripts {
			if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q", s)
			}
		}
	})
}

// The manifest, without an archive around it.
func FuzzManifest(f *testing.F) {
	f.Add("[package]\nname = \"foo\"\nversion = \"1.0.0\"\nbuild = 'x.rs'\n[lib]\nproc-macro = true\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := crate{manifest: []byte(text)}
		if err := c.read("foo", "1.0.0"); err == nil && (!strings.Contains(text, "package") || !strings.Contains(text, "name")) {
			t.Errorf("%q", text)
		}
	})
}

func FuzzPins(f *testing.F) {
	f.Add([]byte("[[package]]\nname='foo'\nversion='1.0.0'\nsource='registry+x'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, p := range (Ecosystem{}).Pins("Cargo.lock", bytes.Clone(data)) {
			if _, ok := isVersion(p.Version); !ok || !isName(p.Name) {
				t.Errorf("%+v", p)
			}
		}
	})
}
