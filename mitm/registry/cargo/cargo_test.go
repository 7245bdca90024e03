package cargo

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"1.2.3": "ok", "0.0.0": "ok", "1.0.0+a-b.01": "ok", "1.0.0-0": "pre", "1.0.0-rc.1+x": "pre", "1.0.0-a-b": "pre",
		"18446744073709551615.0.0": "ok", "18446744073709551616.0.0": "", "01.0.0": "", "1.0": "", "1.0.0.0": "", "v1.0.0": "",
		"1.0.0-01": "", "1.0.0-": "", "1.0.0+": "", "1.0.0-a..b": "", "1.0.0-é": "", "1.0.0+a+b": "", "": "", " 1.0.0": "",
	} {
		got := ""
		if pre, ok := isVersion(text); ok && pre {
			got = "pre"
		} else if ok {
			got = "ok"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	o := crates(t)
	o.Aliases = []*url.URL{address(t, "https://old.example/index/")}
	const static = "https://static.example/crates/"
	for _, tc := range []struct{ base, path, query, want string }{
		{"", "config.json", "", "2   config.json"},
		{"", "1/a", "", "0 a  1/a"},
		{"", "2/ab", "", "0 ab  2/ab"},
		{"", "3/a/abc", "", "0 abc  3/a/abc"},
		{"", "se/rd/serde_json", "", "0 serde_json  se/rd/serde_json"},
		{"https://old.example/index/", "se/rd/serde", "", "0 serde  se/rd/serde"},
		{"https://old.example/index/", "dl/serde/1.0.0/download", "", "1 serde 1.0.0 https://index.example/dl/serde/1.0.0/download"},
		{"", "se/rd/Serde", "", "registry-path"},
		{"", "Se/rd/serde", "", "registry-path"},
		{"", "se/rd/serde/", "", "registry-path"},
		{"", "se//rd/serde", "", "registry-path"},
		{"", "se/rd/other", "", "registry-path"},
		{"", "2/a", "", "registry-path"},
		{"", "s%65/rd/serde", "", "registry-path"},
		{"", "se/rd/serde", "x", "registry-path"},
		{"", "../config.json", "", "registry-path"},
		{"", "", "", "registry-path"},
		{"", "info/refs", "service=git-upload-pack", "registry-path"},
		{"", "HEAD", "", "registry-path"},
		{"", "api/v1/crates", "q=serde", "registry-method"},
		{"", "api/v1/crates/serde/owners", "", "registry-method"},
		{static, "serde/1.0.0/download", "", "1 serde 1.0.0 " + static + "serde/1.0.0/download"},
		{static, "Inflector/Inflector-0.11.4.crate", "", "1 inflector 0.11.4 " + static + "Inflector/Inflector-0.11.4.crate"},
		{static, "foo-1-2.0.0-rc.1+x-y.crate", "", "1 foo-1 2.0.0-rc.1+x-y " + static + "foo-1-2.0.0-rc.1+x-y.crate"},
		{static, "foo/1.0.0.crate", "", "1 foo 1.0.0 " + static + "foo/1.0.0.crate"},
		{static, "foo/1.0.0", "", "1 foo 1.0.0 " + static + "foo/1.0.0"},
		{static, "foo/1.0/download", "", "registry-path"},
		{static, "foo/../foo/1.0.0/download", "", "registry-path"},
		{static, "foo/1.0.0%2Bx/download", "", "registry-path"},
		{static, "config.json", "", "registry-path"},
		{static, "se/rd/serde", "", "registry-path"},
		{static, "download", "", "registry-path"},
	} {
		base := o.URL
		if tc.base != "" {
			base = address(t, tc.base)
		}
		a, err := Ecosystem{}.Parse(o, &registry.Request{Method: "GET", Base: base, Path: tc.path, Query: tc.query})
		if err != nil {
			if !strings.HasPrefix(tc.want, "registry-") {
				t.Errorf("%s: %v", tc.path, err)
				continue
			}
			registrytest.Refused(t, err, registry.Reason(tc.want))
			continue
		}
		where := a.Path
		if a.Base != nil {
			where = a.URL()
		}
		if got := fmt.Sprintf("%d %s %s %s", a.Kind, a.Name, a.Version, where); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
	for method, path := range map[string]string{"PUT": "api/v1/crates/new", "DELETE": "api/v1/crates/serde/1.0.0/yank", "POST": "se/rd/serde", "": "config.json"} {
		_, err := Ecosystem{}.Parse(o, &registry.Request{Method: method, Base: o.URL, Path: path})
		registrytest.Refused(t, err, registry.ReasonMethod)
	}
}

func TestConfig(t *testing.T) {
	for dl, want := range map[string]string{
		"https://static.example/crates":                                                     "https://static.example/crates/Abc-d/1.0.0/download",
		"https://static.example/crates/{crate}/{crate}-{version}.crate":                     "https://static.example/crates/Abc-d/Abc-d-1.0.0.crate",
		"https://static.example/crates/{prefix}/{lowerprefix}/{crate}/{version}.crate":      "https://static.example/crates/Ab/c-/ab/c-/Abc-d/1.0.0.crate",
		"https://static.example/crates/{sha256-checksum}/{crate}/{version}/download":        "https://static.example/crates/" + sha + "/Abc-d/1.0.0/download",
		"https://index.example/dl":                                                          "https://index.example/dl/Abc-d/1.0.0/download",
		"https://old.example/dl":                                                            "https://index.example/dl/Abc-d/1.0.0/download",
		"https://static.example/crates/{sha256-checksum}":                                   "",
		"https://static.example/crates/{version}/{crate}":                                   "",
		"https://static.example/crates/":                                                    "",
		"https://static.example/crates/../x":                                                "",
		"https://static.example/crates/{crate}/{version}/download?x=1":                      "",
		"https://static.example/other":                                                      "",
		"https://static.example.evil/crates":                                                "",
		"https://evil.example/https://static.example/crates/{crate}/{version}/download":     "",
		"https://user@static.example/crates":                                                "",
		"http://static.example/crates":                                                      "",
		"https://static.example/crates/{crate}/{version}/download#{crate}/{version}/x.html": "",
		"": "",
	} {
		o := crates(t)
		o.Aliases = []*url.URL{address(t, "https://old.example/")}
		c, err := readConfig(o, &registry.Document{Data: []byte(`{"dl":"` + dl + `"}`)})
		got := ""
		if err == nil {
			got, err = c.address(o, "Abc-d", "1.0.0", sha)
		}
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", dl, got, err)
		}
	}
	u := upstream{"config.json": `{"dl" : "https://static.example/crates","auth-required":true, "extra": 1}`}
	if got, _, err := ask(t, u, "https://index.example/", "config.json"); got != u["config.json"] || err != nil {
		t.Errorf("%v: %s", err, got)
	}
	for _, text := range []string{
		"", "[]", `{}`, `{"dl":1}`, `{"dl":null}`, `{"dl":"https://static.example/crates","dl":"https://static.example/crates"}`,
		`{"dl":"https://static.example/crates","DL":"x"}`, `{"dl":"https://static.example/crates","auth-required":"no"}`,
		`{"dl":"https://static.example/crates","api":1}`, `{"dl":"https://static.example/crates"} x`, `{"dl":"\ud800"}`,
	} {
		_, _, err := ask(t, upstream{"config.json": text}, "https://index.example/", "config.json")
		registrytest.Refused(t, err, registry.ReasonDocument)
	}
	_, _, err := ask(t, upstream{}, "https://index.example/", "config.json")
	registrytest.Refused(t, err, registry.ReasonNotFound)
}

func TestLookup(t *testing.T) {
	a, err := Ecosystem{}.Lookup(crates(t), "Foo_Bar", "1.0.0")
	if err != nil || a.Name != "foo_bar" || a.Path != "fo/o_/foo_bar" {
		t.Errorf("%+v %v", a, err)
	}
	for _, name := range []string{"", "a/b", "..", "-x", "a b"} {
		_, err := Ecosystem{}.Lookup(crates(t), name, "1.0.0")
		registrytest.Refused(t, err, registry.ReasonPath)
	}
}
