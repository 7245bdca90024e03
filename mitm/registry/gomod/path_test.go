package gomod

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// testOrigin is a module proxy with a database that nobody can sign for.
func testOrigin() *registry.Origin {
	return &registry.Origin{
		Ecosystem: "go",
		URL:       &url.URL{Scheme: "https", Host: "modules.example", Path: "/proxy/"},
		Aliases:   []*url.URL{{Scheme: "https", Host: "mirror.example", Path: "/"}},
		Artifacts: []*url.URL{{Scheme: "https", Host: "files.example", Path: "/"}},
		Keys:      []string{"sums.example+27024815+ATCg0ht5W6IYCX1sjv1N/Zc0GCVnt4QBkTJh822X5qEG"},
	}
}

func TestParseReadsWhatTheGoCommandSends(t *testing.T) {
	o := testOrigin()
	for _, test := range []struct {
		path string
		want registry.Ask
	}{
		{"a.example/b/@v/list", registry.Ask{Name: "a.example/b", Form: formList, Type: typeText}},
		{"a.example/b/v2/@latest", registry.Ask{Name: "a.example/b/v2", Form: formLatest, Type: typeJSON}},
		{"a.example/%21big/@v/v1.0.0.info", registry.Ask{Kind: registry.Artifact, Name: "a.example/Big", Version: "v1.0.0", Form: formInfo, Type: typeJSON}},
		{"a.example/b/@v/v2.0.0+incompatible.mod", registry.Ask{Kind: registry.Artifact, Name: "a.example/b", Version: "v2.0.0+incompatible", Form: formMod, Type: typeText}},
		{"a.example/b/@v/v0.0.0-20200102030405-0123456789ab.zip", registry.Ask{Kind: registry.Artifact, Name: "a.example/b", Version: "v0.0.0-20200102030405-0123456789ab", Form: formZip, Type: typeZip}},
		{"a.example/b/@v/v1.0.0-%21r%21c1.zip", registry.Ask{Kind: registry.Artifact, Name: "a.example/b", Version: "v1.0.0-RC1", Form: formZip, Type: typeZip}},
		{"a.example/toolchain/@v/v0.0.1-go1.26.0.linux-amd64.zip", registry.Ask{Kind: registry.Artifact, Name: "a.example/toolchain", Version: "v0.0.1-go1.26.0.linux-amd64", Form: formZip, Type: typeZip}},
		{"sumdb/sums.example/supported", registry.Ask{Kind: registry.Plain, Form: formSupported, Type: typeText}},
		{"sumdb/sums.example/latest", registry.Ask{Kind: registry.Plain, Form: formTree, Type: typeText}},
		{"sumdb/sums.example/lookup/a.example/%21big@v1.0.0", registry.Ask{Kind: registry.Metadata, Name: "a.example/Big", Version: "v1.0.0", Form: formLookup, Type: typeText}},
		{"sumdb/sums.example/tile/8/1/x001/234.p/5", registry.Ask{Kind: registry.Plain, Form: formTile, Type: typeTile}},
	} {
		t.Run(test.path, func(t *testing.T) {
			test.want.Path, test.want.Base = test.path, o.URL
			got, err := (&Ecosystem{}).Parse(o, &registry.Request{Method: "HEAD", Base: o.URL, Path: test.path})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What other clients send unescaped is the same request.
func TestParseHasOneSpelling(t *testing.T) {
	o := testOrigin()
	for _, base := range []*url.URL{o.URL, o.Aliases[0]} {
		a, err := (&Ecosystem{}).Parse(o, &registry.Request{Method: "GET", Base: base, Path: "a.example/!big/@v/v1.0.0.zip"})
		if err != nil || a.URL() != base.String()+"a.example/%21big/@v/v1.0.0.zip" {
			t.Errorf("read as %v, %v", a, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	o := testOrigin()
	get := func(path string) registry.Request { return registry.Request{Method: "GET", Base: o.URL, Path: path} }
	tests := map[string]struct {
		request registry.Request
		reason  registry.Reason
		says    string
	}{
		"publishing":      {registry.Request{Method: "POST", Base: o.URL, Path: "a.example/b/@v/list"}, registry.ReasonMethod, "only be read"},
		"a query":         {registry.Request{Method: "GET", Base: o.URL, Path: "a.example/b/@v/list", Query: "go-get=1"}, registry.ReasonPath, "query"},
		"a body":          {registry.Request{Method: "GET", Base: o.URL, Path: "a.example/b/@v/list", Body: []byte("x")}, registry.ReasonPath, "body"},
		"an artifact URL": {registry.Request{Method: "GET", Base: o.Artifacts[0], Path: "a.example/b/@v/list"}, registry.ReasonPath, "address"},
		"no base":         {registry.Request{Method: "GET", Path: "a.example/b/@v/list"}, registry.ReasonPath, "address"},
		"a branch":        {get("a.example/b/@v/main.info"), registry.ReasonPath, "branches"},
		"a commit":        {get("a.example/b/@v/0123456789ab.info"), registry.ReasonPath, "branches"},
		"half a version":  {get("a.example/b/@v/v1.2.info"), registry.ReasonPath, "full version"},
		"metadata":        {get("a.example/b/@v/v1.0.0+meta.zip"), registry.ReasonPath, "full version"},
		"another major":   {get("a.example/b/@v/v2.0.0.zip"), registry.ReasonPath, "full version"},
		"another file":    {get("a.example/b/@v/v1.0.0.ziphash"), registry.ReasonPath, "module proxy"},
		"no file":         {get("a.example/b/@v/"), registry.ReasonPath, "module proxy"},
		"upper case":      {get("a.example/Big/@v/list"), registry.ReasonPath, "capital"},
		"no dot":          {get("fmt/@v/list"), registry.ReasonPath, "host"},
		"dots":            {get("a.example/../b/@v/list"), registry.ReasonPath, "module path"},
		"an escape":       {get("a.example/%62/@v/list"), registry.ReasonPath, "path"},
		"a slash more":    {get("a.example//b/@v/list"), registry.ReasonPath, "module path"},
		"a slash first":   {get("/a.example/b/@v/list"), registry.ReasonPath, "module path"},
		"a longer path":   {get("a.example/b/@v/list/"), registry.ReasonPath, "module proxy"},
		"twice":           {get("a.example/b/@v/v1.0.0/@v/v1.0.0.zip"), registry.ReasonPath, "version"},
		"too long":        {get("a.example/" + strings.Repeat("b", 2000) + "/@v/list"), registry.ReasonPath, "path"},
		"a page":          {get("a.example/b"), registry.ReasonPath, "@v/list"},
		"the root":        {get(""), registry.ReasonPath, "@v/list"},
		"the index":       {get("index"), registry.ReasonPath, "@v/list"},
		"another sumdb":   {get("sumdb/other.example/supported"), registry.ReasonPath, "checksum database"},
		"data tiles":      {get("sumdb/sums.example/tile/8/data/000"), registry.ReasonPath, "go command"},
		"other tiles":     {get("sumdb/sums.example/tile/4/0/000"), registry.ReasonPath, "go command"},
		"a tile's twin":   {get("sumdb/sums.example/tile/8/0/0"), registry.ReasonPath, "go command"},
		"a full part":     {get("sumdb/sums.example/tile/8/0/000.p/256"), registry.ReasonPath, "go command"},
		"no version":      {get("sumdb/sums.example/lookup/a.example/b"), registry.ReasonPath, "MODULE@VERSION"},
		"a look-up":       {get("sumdb/sums.example/lookup/a.example/b@main"), registry.ReasonPath, "branches"},
		"two versions":    {get("sumdb/sums.example/lookup/a.example/b@v1.0.0@v1.0.0"), registry.ReasonPath, "version"},
		"the database":    {get("sumdb/sums.example"), registry.ReasonPath, "checksum database"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := (&Ecosystem{}).Parse(o, &test.request)
			var refusal *registry.Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("read as %+v, %v", a, err)
			}
			if refusal.Reason != test.reason || !strings.Contains(refusal.Text, test.says) || refusal.Status == 404 || refusal.Status == 410 {
				t.Errorf("refused with %d %s: %s", refusal.Status, refusal.Reason, refusal.Text)
			}
		})
	}
}

// A private module proxy has no checksum database.
func TestParseKnowsNoDatabaseWithoutAKey(t *testing.T) {
	o := testOrigin()
	o.Keys = nil
	if a, err := (&Ecosystem{}).Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: "sumdb/sums.example/supported"}); err == nil {
		t.Errorf("read as %+v", a)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a.example/b/@v/list", "a.example/%21b/@v/v1.0.0.zip", "a.example/!b/@latest", "sumdb/sums.example/lookup/a.example/b@v1.0.0",
		"sumdb/sums.example/tile/8/0/x001/234.p/5", "a.example/b/@v/v2.0.0+incompatible.mod", "a.example/../b/@v/list",
	} {
		f.Add(seed)
	}
	o := testOrigin()
	f.Fuzz(func(t *testing.T, path string) {
		e := &Ecosystem{}
		a, err := e.Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: path})
		if err != nil {
			registrytest.Refusal(t, err)
			return
		}
		if strings.ReplaceAll(path, "!", "%21") != a.Path {
			t.Errorf("%q is asked for as %q", path, a.Path)
		}
		again, err := e.Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: a.Path})
		if err != nil || !cmp.Equal(a, again) {
			t.Errorf("%q is read as %+v, and then as %+v, %v", path, a, again, err)
		}
	})
}
