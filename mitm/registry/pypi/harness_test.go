package pypi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

func address(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// index is an index with its files at a host of their own.
func index(t testing.TB) *registry.Origin {
	t.Helper()
	return &registry.Origin{
		Ecosystem: "pypi", URL: address(t, "https://pypi.example/"),
		Artifacts: []*url.URL{address(t, "https://files.example/")},
	}
}

// upstream is a registry: documents by path, with their media types in front.
type upstream map[string]string

func (u upstream) Document(_ context.Context, o *registry.Origin, path, _ string) (*registry.Document, error) {
	text, ok := u[path]
	if !ok {
		return nil, registry.ErrNotFound
	}
	media, data, _ := strings.Cut(text, " ")
	sum := sha256.Sum256([]byte(data))
	where := *o.URL
	where.Path += path
	return &registry.Document{URL: &where, Type: media, Data: []byte(data), Sum: hex.EncodeToString(sum[:])}, nil
}

func get(t testing.TB, o *registry.Origin, base, path, accept string) (*registry.Ask, error) {
	t.Helper()
	return Ecosystem{}.Parse(o, &registry.Request{Method: "GET", Base: address(t, base), Path: path, Accept: accept})
}

// document asks for a document of the index, with the versions hidden.
func document(t testing.TB, u upstream, path, accept string, hidden ...string) (string, *registry.Facts, error) {
	t.Helper()
	o := index(t)
	a, err := get(t, o, "https://pypi.example/", path, accept)
	if err != nil {
		return "", nil, err
	}
	facts, err := Ecosystem{}.Facts(t.Context(), u, o, a)
	if err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	err = Ecosystem{}.Write(&out, facts, a, func(v string) bool { return strings.Contains(" "+strings.Join(hidden, " ")+" ", " "+v+" ") })
	return out.String(), facts, err
}

// shape writes facts down in short.
func shape(f *registry.Facts) string {
	var out strings.Builder
	for _, v := range f.Versions {
		fmt.Fprintf(&out, "%s", v.Version)
		if !v.Published.IsZero() {
			fmt.Fprintf(&out, " %s", v.Published.Format("2006-01-02"))
		}
		if v.Prerelease {
			out.WriteString(" pre")
		}
		if v.Withdrawn {
			out.WriteString(" withdrawn")
		}
		for _, file := range v.Files {
			fmt.Fprintf(&out, " %s", file.URL[strings.LastIndexByte(file.URL, '/')+1:])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

const sha = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

// project is a document as indexes have them.
const project = typeJSON + ` {"alternate-locations":[],"files":[
 {"core-metadata":false,"data-dist-info-metadata":false,"filename":"Foo_Bar-1.0.tar.gz","hashes":{"sha256":"` + sha + `"},"provenance":null,"requires-python":null,"size":1200,"upload-time":"2020-01-02T03:04:05.123456Z","url":"https://files.example/packages/aa/Foo_Bar-1.0.tar.gz","yanked":false},
 {"core-metadata":{"sha256":"` + sha + `"},"data-dist-info-metadata":{"sha256":"` + sha + `"},"filename":"foo_bar-1.0-py3-none-any.whl","hashes":{"sha256":"` + sha + `"},"provenance":null,"requires-python":">=3.8","size":900,"upload-time":"2020-01-03T00:00:00Z","url":"https://files.example/packages/bb/foo_bar-1.0-py3-none-any.whl","yanked":"broken <b>"},
 {"filename":"foo_bar-2.0rc1-py3-none-any.whl","hashes":{"md5":"acbd18db4cc2f85cedef654fccc4a4d8"},"url":"https://files.example/packages/cc/foo_bar-2.0rc1-py3-none-any.whl"},
 {"filename":"foo_bar-2.0+cpu-py3-none-any.whl","hashes":{},"upload-time":"2024-05-06T00:00:00Z","url":"/../packages/foo_bar-2.0+cpu-py3-none-any.whl"},
 {"filename":"other-1.0.tar.gz","hashes":{},"url":"https://files.example/packages/other-1.0.tar.gz"},
 {"filename":"foo_bar-9-py3-none-any.whl","hashes":{},"url":"https://evil.example/foo_bar-9-py3-none-any.whl"},
 {"filename":"foo_bar-8-py3-none-any.whl","hashes":{},"url":"https://files.example/foo_bar-7-py3-none-any.whl"}
],"meta":{"_last-serial":7,"api-version":"1.4"},"name":"Foo.Bar","versions":["1.0","2.0rc1","2.0+cpu","9","legacy-1"],"tail":"kept"}`

// Admit lets every version pass.
func (upstream) Admit(context.Context, *registry.Origin, registry.Pin, func() (bool, error)) error {
	return nil
}
