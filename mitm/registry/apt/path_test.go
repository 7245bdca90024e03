package apt

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func testOrigin() *registry.Origin {
	return &registry.Origin{
		Ecosystem: "apt",
		URL:       &url.URL{Scheme: "http", Host: "repo.example", Path: "/debian/"},
		Aliases:   []*url.URL{{Scheme: "https", Host: "mirror.example", Path: "/"}},
	}
}

const someHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestParseReadsWhatAptSends(t *testing.T) {
	o := testOrigin()
	for path, want := range map[string]registry.Ask{
		"dists/stable/InRelease":                                         {Kind: registry.Plain, Form: formInRelease},
		"dists/stable/updates/Release":                                   {Kind: registry.Plain, Form: formRelease},
		"dists/stable-security/Release.gpg":                              {Kind: registry.Plain, Form: formSignature},
		"dists/stable/main/binary-amd64/Packages.xz":                     {Kind: registry.Plain, Form: formIndex},
		"dists/stable/main/i18n/Translation-en.xz":                       {Kind: registry.Plain, Form: formIndex},
		"dists/stable/main/Contents-amd64.gz":                            {Kind: registry.Plain, Form: formIndex},
		"dists/stable/main/dep11/icons-64x64.tar.gz":                     {Kind: registry.Plain, Form: formIndex},
		"dists/stable/main/binary-amd64/by-hash/SHA256/" + someHash:      {Kind: registry.Plain, Form: formByHash},
		"pool/main/h/hello/hello_1.0_amd64.deb":                          {Kind: registry.Artifact, Form: formPackage, Name: "hello"},
		"pool/main/g/g%2b%2b/g%2b%2b_1.0%7erc1%2bb1_amd64.deb":           {Kind: registry.Artifact, Form: formPackage, Name: "g++"},
		"pool/main/h/hello/hello_1.0.orig.tar.xz":                        {Kind: registry.Artifact, Form: formPackage, Name: "hello"},
		"dists/stable/pool/stable/amd64/other_1%253a2_amd64.deb":         {Kind: registry.Artifact, Form: formPackage, Name: "other"},
		"pool/main/h/hello/hello_1.0.dsc":                                {Kind: registry.Artifact, Form: formPackage, Name: "hello"},
		"dists/stable/main/source/by-hash/SHA512/" + someHash + someHash: {Kind: registry.Plain, Form: formByHash},
	} {
		t.Run(path, func(t *testing.T) {
			want.Path, want.Base = path, o.URL
			got, err := New(&memory{}).Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	o := testOrigin()
	get := func(path string) registry.Request { return registry.Request{Method: "GET", Base: o.URL, Path: path} }
	for name, test := range map[string]struct {
		request registry.Request
		reason  registry.Reason
	}{
		"uploading":         {registry.Request{Method: "POST", Base: o.URL, Path: "dists/stable/InRelease"}, registry.ReasonMethod},
		"a query":           {registry.Request{Method: "GET", Base: o.URL, Path: "dists/stable/InRelease", Query: "a"}, registry.ReasonPath},
		"a body":            {registry.Request{Method: "GET", Base: o.URL, Path: "dists/stable/InRelease", Body: []byte("a")}, registry.ReasonPath},
		"another base":      {registry.Request{Method: "GET", Base: &url.URL{Scheme: "http", Host: "other.example", Path: "/"}, Path: "dists/stable/InRelease"}, registry.ReasonPath},
		"the root":          {get(""), registry.ReasonPath},
		"dists alone":       {get("dists"), registry.ReasonPath},
		"a listing":         {get("dists/"), registry.ReasonPath},
		"a listing of pool": {get("pool/main/h/"), registry.ReasonPath},
		"no distribution":   {get("dists/InRelease"), registry.ReasonPath},
		"no component":      {get("dists/stable/Packages.xz"), registry.ReasonPath},
		"a page":            {get("README"), registry.ReasonPath},
		"dots":              {get("dists/../stable/InRelease"), registry.ReasonPath},
		"escaped dots":      {get("dists/%2e%2e/stable/InRelease"), registry.ReasonPath},
		"an escaped slash":  {get("dists%2fstable/InRelease"), registry.ReasonPath},
		"an escaped letter": {get("dists/%73table/InRelease"), registry.ReasonPath},
		"a slash more":      {get("dists//stable/InRelease"), registry.ReasonPath},
		"a slash first":     {get("/dists/stable/InRelease"), registry.ReasonPath},
		"a blank":           {get("pool/a b.deb"), registry.ReasonPath},
		"half an escape":    {get("pool/a%2"), registry.ReasonPath},
		"a difference":      {get("dists/stable/main/binary-amd64/Packages.diff/Index"), registry.ReasonPath},
		"MD5":               {get("dists/stable/main/binary-amd64/by-hash/MD5Sum/d41d8cd98f00b204e9800998ecf8427e"), registry.ReasonPath},
		"a short hash":      {get("dists/stable/main/binary-amd64/by-hash/SHA256/abcd"), registry.ReasonPath},
		"capitals":          {get("dists/stable/main/binary-amd64/by-hash/SHA256/" + strings.ToUpper(someHash)), registry.ReasonPath},
		"two hashes":        {get("dists/stable/main/by-hash/SHA256/by-hash/SHA256/" + someHash), registry.ReasonPath},
		"a flat one":        {get("Packages.xz"), registry.ReasonPath},
		"no name":           {get("pool/main/.deb"), registry.ReasonPath},
		"too long":          {get("pool/" + strings.Repeat("a", 2000) + ".deb"), registry.ReasonPath},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := New(&memory{}).Parse(o, &test.request)
			var refusal *registry.Refusal
			if !errors.As(err, &refusal) || refusal.Reason != test.reason {
				t.Fatalf("read as %+v, %v", a, err)
			}
			registrytest.Refusal(t, err)
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"dists/stable/InRelease", "pool/main/g/g%2b%2b/g++_1%7e1_amd64.deb", "dists/a/b/c/by-hash/SHA256/" + someHash, "dists/../InRelease"} {
		f.Add(seed)
	}
	o := testOrigin()
	f.Fuzz(func(t *testing.T, path string) {
		e := New(&memory{})
		a, err := e.Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: path})
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		again, err := e.Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: a.Path})
		if err != nil || !cmp.Equal(a, again) {
			t.Errorf("%q is read as %+v, and then as %+v, %v", path, a, again, err)
		}
		u, err := url.Parse("http://repo.example/" + a.Path)
		parts, ok := split(a.Path)
		if err != nil || !ok || u.Path != "/"+strings.Join(parts, "/") {
			t.Errorf("%q means %v, %v", a.Path, u, err)
		}
	})
}
