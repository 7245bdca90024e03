package pypi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// Whatever path is accepted is asked for in the same spelling again, and leads nowhere else.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"simple/foo/", "pypi/foo/json", "pypi/foo/1.0%2Bx/json", "p/foo-1.0.tar.gz", "p/foo-1+c-py3-none-any.whl.metadata"} {
		f.Add(path, true)
		f.Add(path, false)
	}
	f.Fuzz(func(t *testing.T, path string, artifacts bool) {
		o := index(t)
		r := &registry.Request{Method: "GET", Base: o.URL, Path: path}
		if artifacts {
			r.Base = o.Artifacts[0]
		}
		a, err := Ecosystem{}.Parse(o, r)
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		r.Path = a.Path
		b, err := Ecosystem{}.Parse(o, r)
		if err != nil || b.Path != a.Path || b.Name != a.Name || b.Version != a.Version {
			t.Errorf("%q is read as %q, and that as %v, %v", path, a.Path, b, err)
		}
		if !isNormal(a.Name) || slices.Contains(strings.Split(a.Path, "/"), "..") {
			t.Errorf("%q: %+v", path, a)
		}
	})
}

// A version stays what it is when it is normalized.
func FuzzVersion(f *testing.F) {
	for _, v := range []string{"1.0", "1!2.0rc1.post2.dev3+a.1", "v1.0-1", "1.0.0"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := parseVersion(text)
		if !ok {
			return
		}
		again, ok := parseVersion(v.text)
		if !ok || again != v {
			t.Errorf("%q: %+v, then %+v", text, v, again)
		}
		if short, ok := parseVersion(v.key); !ok || short.key != v.key {
			t.Errorf("%q: key %q", text, v.key)
		}
	})
}

// The document that is written says of the shown versions what the one that was read says, and
// nothing of the hidden one. encoding/json is the oracle.
func FuzzSimpleJSON(f *testing.F) {
	f.Add(strings.TrimPrefix(project, typeJSON+" "))
	f.Add(strings.TrimPrefix(simple("foo_bar-1.0.tar.gz", "foo_bar-2.0.zip"), typeJSON+" "))
	f.Fuzz(func(t *testing.T, text string) {
		u := upstream{"simple/foo-bar/": typeJSON + " " + text}
		got, facts, err := document(t, u, "simple/foo-bar/", typeJSON, "1.0")
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		var doc struct {
			Files []struct {
				Filename string `json:"filename"`
			} `json:"files"`
		}
		if err := json.Unmarshal([]byte(got), &doc); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		want := 0
		for _, v := range facts.Versions {
			for _, file := range v.Files {
				if v.Version != "1.0" && file.Of == "" {
					want++
				}
			}
		}
		seen := map[string]bool{}
		for _, file := range doc.Files {
			d, ok := distributionOf(file.Filename, "foo-bar")
			if !ok || d.version.text == "1.0" {
				t.Errorf("%q is shown", file.Filename)
			}
			seen[file.Filename] = true
		}
		if len(seen) != want {
			t.Errorf("%d files, want %d: %s", len(seen), want, got)
		}
		if _, _, err := document(t, u, "simple/foo-bar/", "text/html", "1.0"); err != nil {
			t.Error(err)
		}
	})
}

// What is written in HTML or JSON about an HTML index is read as the same again.
func FuzzSimpleHTML(f *testing.F) {
	f.Add(strings.TrimPrefix(anchors, "text/html "))
	f.Fuzz(func(t *testing.T, text string) {
		u := upstream{"simple/foo/": "text/html " + text}
		for accept, media := range map[string]string{"text/html": typeHTML, typeJSON: typeJSON} {
			got, facts, err := document(t, u, "simple/foo/", accept)
			if err != nil {
				registrytest.Refusal(t, err)
				return
			}
			_, again, err := document(t, upstream{"simple/foo/": media + " " + got}, "simple/foo/", accept)
			if err != nil || shape(again) != shape(facts) {
				t.Errorf("%v: %s", err, got)
			}
		}
	})
}

func FuzzLegacy(f *testing.F) {
	for path, text := range poetry {
		if strings.HasPrefix(path, "pypi/") {
			f.Add(strings.TrimPrefix(text, typePlain+" "))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := upstream{"simple/foo/": simple("foo-1.0.tar.gz", "foo-2.0.tar.gz", "foo-3.0.tar.gz"), "pypi/foo/json": typePlain + " " + text}
		got, _, err := document(t, u, "pypi/foo/json", "", "3.0")
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		var doc struct {
			Info struct {
				Version string `json:"version"`
			} `json:"info"`
			Releases map[string][]struct {
				Filename string `json:"filename"`
			} `json:"releases"`
			URLs []struct {
				Filename string `json:"filename"`
			} `json:"urls"`
		}
		if err := json.Unmarshal([]byte(got), &doc); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if v, ok := parseVersion(doc.Info.Version); !ok || v.key == "3" {
			t.Errorf("%s", got)
		}
		for version, files := range doc.Releases {
			for _, file := range append(files, doc.URLs...) {
				if file.Filename == "foo-3.0.tar.gz" {
					t.Errorf("%s: %s", version, got)
				}
			}
		}
	})
}

func FuzzInspect(f *testing.F) {
	f.Add("foo_bar-1.0-py3-none-any.whl", goodWheel(f, "foo_bar", "1.0"))
	f.Add("foo_bar-1.0.tar.gz", sdist(f, "x/PKG-INFO", metadataText("foo-bar", "1.0"), "x/pyproject.toml", "[build-system]\nbuild-backend='x'"))
	f.Add("foo_bar-1.0.whl.metadata", []byte(metadataText("foo-bar", "1.0")))
	f.Fuzz(func(t *testing.T, file string, data []byte) {
		in, err := inspect(file, data)
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

func FuzzPins(f *testing.F) {
	f.Add("uv.lock", []byte("[[package]]\nname='foo'\nversion='1'\n"))
	f.Add("Pipfile.lock", []byte(`{"default":{"foo":{"version":"==1.0"}}}`))
	f.Add("requirements.txt", []byte("foo==1.0\n"))
	f.Fuzz(func(t *testing.T, base string, data []byte) {
		for _, p := range (Ecosystem{}).Pins(base, bytes.Clone(data)) {
			if !isNormal(p.Name) || !isNormalVersion(p.Version) {
				t.Errorf("%+v", p)
			}
		}
	})
}

// isNormal reports whether a name is spelled as normalize spells it.
func isNormal(name string) bool {
	normal, ok := normalize(name)
	return ok && normal == name
}
