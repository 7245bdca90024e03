package pypi

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func simple(files ...string) string {
	var all []string
	for _, f := range files {
		all = append(all, `{"filename":"`+f+`","url":"https://files.example/`+f+`","hashes":{"sha256":"`+sha+`"},"upload-time":"2020-01-02T00:00:00Z"}`)
	}
	return typeJSON + ` {"meta":{"api-version":"1.1"},"name":"foo","files":[` + strings.Join(all, ",") + `]}`
}

func entry(file, digest string) string {
	return `{"digests":{"blake2b_256":"00","md5":"acbd18db4cc2f85cedef654fccc4a4d8","sha256":"` + digest + `"},"filename":"` + file + `","url":"https://files.example/` + file + `","yanked":false}`
}

// poetry is what poetry asks for: three versions, of which one has a strange file besides.
var poetry = upstream{
	"simple/foo/": simple("foo-1.0.tar.gz", "foo-2.0.tar.gz", "foo-3.0.tar.gz"),
	"pypi/foo/json": typePlain + ` {"info":{"name":"Foo","version":"3.0","requires_dist":["Bar.Baz (>=1)","qux; extra == 'x'"]},"last_serial":9,
 "releases" : { "1.0" : [` + entry("foo-1.0.tar.gz", sha) + `,` + entry("foo-9.0.tar.gz", sha) + `] , "2.0":[` + entry("foo-2.0.tar.gz", sha) + `],"3.0":[` + entry("foo-3.0.tar.gz", sha) + `],"4.0":[],"x":[]},
 "urls":[` + entry("foo-3.0.tar.gz", sha) + `],"vulnerabilities":[]}`,
	"pypi/foo/2.0/json": typePlain + ` {"info":{"name":"foo","version":"2.0","requires_dist":null},"urls":[` + entry("foo-2.0.tar.gz", sha) + `,` + entry("foo-1.0.tar.gz", sha) + `]}`,
	"pypi/foo/3.0/json": typePlain + ` {"info":{"name":"foo","version":"2.0"},"urls":[]}`,
}

// view is what poetry sees of such a document.
func view(t *testing.T, text string) string {
	t.Helper()
	var doc struct {
		Info     struct{ Version string }
		Releases map[string][]struct{ Filename string }
		URLs     []struct{ Filename string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var all []string
	for v, files := range doc.Releases {
		for _, f := range files {
			v += "=" + f.Filename
		}
		all = append(all, v)
	}
	sort.Strings(all)
	out := doc.Info.Version + ": " + strings.Join(all, " ") + ";"
	for _, f := range doc.URLs {
		out += " " + f.Filename
	}
	return out
}

func TestPoetry(t *testing.T) {
	for _, tc := range []struct {
		path   string
		hidden []string
		want   string
	}{
		{"pypi/foo/json", nil, "3.0: 1.0=foo-1.0.tar.gz 2.0=foo-2.0.tar.gz 3.0=foo-3.0.tar.gz; foo-3.0.tar.gz"},
		{"pypi/foo/json", []string{"1.0"}, "3.0: 2.0=foo-2.0.tar.gz 3.0=foo-3.0.tar.gz; foo-3.0.tar.gz"},
		{"pypi/foo/json", []string{"3.0"}, "2.0: 1.0=foo-1.0.tar.gz 2.0=foo-2.0.tar.gz; foo-2.0.tar.gz"},
		{"pypi/foo/json", []string{"3.0", "2.0"}, "1.0: 1.0=foo-1.0.tar.gz; foo-1.0.tar.gz"},
		{"pypi/foo/2.0/json", nil, "2.0: ; foo-2.0.tar.gz"},
	} {
		text, facts, err := document(t, poetry, tc.path, "", tc.hidden...)
		if err != nil {
			t.Fatal(err)
		}
		if got := view(t, text); got != tc.want {
			t.Errorf("%s without %v: %s", tc.path, tc.hidden, text)
		}
		if tc.path == "pypi/foo/json" && strings.Join(facts.Version("3.0").Needs, " ") != "bar-baz qux" {
			t.Errorf("%v", facts.Version("3.0").Needs)
		}
	}
	_, _, err := document(t, poetry, "pypi/foo/2.0/json", "", "2.0")
	registrytest.Refused(t, err, registry.ReasonQuarantine)
	_, _, err = document(t, poetry, "pypi/foo/3.0/json", "")
	registrytest.Refused(t, err, registry.ReasonDocument)
	_, _, err = document(t, poetry, "pypi/foo/4.0/json", "")
	registrytest.Refused(t, err, registry.ReasonNotFound)
	for _, version := range []string{"4.0", "3.0.0.0"} {
		told := &asked{upstream: poetry}
		ask := &registry.Ask{Kind: registry.Metadata, Name: "foo", Version: version, Form: formRelease, Path: "pypi/foo/" + version + "/json"}
		if _, err := (Ecosystem{}).Facts(t.Context(), told, index(t), ask); err == nil || slices.Contains(told.paths, ask.Path) {
			t.Errorf("%s: %v, asked for %v", version, err, told.paths)
		}
	}
}

func TestPoetrysDocumentsRefused(t *testing.T) {
	const whole = `{"info":{"name":"foo","version":"1.0"},"releases":{"1.0":[]},"urls":[]}`
	for name, text := range map[string]string{
		"another name":  strings.Replace(whole, `"foo"`, `"bar"`, 1),
		"no info":       `{"urls":[]}`,
		"version twice": strings.Replace(whole, `"1.0":[]`, `"1.0":[],"1.0.0":[]`, 1),
		"key twice":     strings.Replace(whole, `"1.0":[]`, `"1.0":[],"1\u002e0":[]`, 1),
		"info twice":    strings.Replace(whole, `"urls"`, `"info":{},"urls"`, 1),
		"name twice":    strings.Replace(whole, `"version"`, `"name":"x","version"`, 1),
		"Releases":      strings.Replace(whole, `"urls"`, `"Releases":{},"urls"`, 1),
		"no list":       strings.Replace(whole, `"1.0":[]`, `"1.0":{}`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			u := upstream{"simple/foo/": simple("foo-1.0.tar.gz"), "pypi/foo/json": typePlain + " " + text}
			_, _, err := document(t, u, "pypi/foo/json", "")
			registrytest.Refused(t, err, registry.ReasonDocument)
		})
	}
	// A file whose digest is another than the simple document's is left out.
	u := upstream{"simple/foo/": simple("foo-1.0.tar.gz"), "pypi/foo/json": typePlain + ` {"info":{"name":"foo","version":"1.0"},"urls":[` +
		entry("foo-1.0.tar.gz", strings.Repeat("0", 64)) + `]}`}
	text, _, err := document(t, u, "pypi/foo/json", "")
	if err != nil || view(t, text) != "1.0: ;" {
		t.Errorf("%v %s", err, text)
	}
}
