package npm

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

var base = &url.URL{Scheme: "https", Host: "npm.example", Path: "/"}

func origin() *registry.Origin {
	files := &url.URL{Scheme: "https", Host: "files.example", Path: "/npm/"}
	return &registry.Origin{Ecosystem: "npm", URL: base, Artifacts: []*url.URL{files}}
}

func TestParse(t *testing.T) {
	for path, want := range map[string]*registry.Ask{
		"left":                                 {Kind: registry.Metadata, Name: "left", Path: "left", Form: full},
		"Left.js":                              {Kind: registry.Metadata, Name: "Left.js", Path: "Left.js", Form: full},
		"@acme/left":                           {Kind: registry.Metadata, Name: "@acme/left", Path: "@acme%2fleft", Form: full},
		"@acme%2fleft":                         {Kind: registry.Metadata, Name: "@acme/left", Path: "@acme%2fleft", Form: full},
		"@acme%2Fleft":                         {Kind: registry.Metadata, Name: "@acme/left", Path: "@acme%2fleft", Form: full},
		"left/1.0.0":                           {Kind: registry.Metadata, Name: "left", Path: "left", Form: one + "1.0.0"},
		"@acme/left/latest":                    {Kind: registry.Metadata, Name: "@acme/left", Path: "@acme%2fleft", Form: one + "latest"},
		"-/package/left/dist-tags":             {Kind: registry.Metadata, Name: "left", Path: "left", Form: tags},
		"-/npm/v1/keys":                        {Kind: registry.Plain, Path: keysPath},
		"left/-/left-1.0.0.tgz":                {Kind: registry.Artifact, Name: "left", Path: "left/-/left-1.0.0.tgz"},
		"@acme/left/-/left-1.0.0.tgz":          {Kind: registry.Artifact, Name: "@acme/left", Path: "@acme/left/-/left-1.0.0.tgz"},
		"":                                     nil,
		"-/all":                                nil,
		"-/whoami":                             nil,
		"left/":                                nil,
		"left//1.0.0":                          nil,
		"../left":                              nil,
		"left/-/../../x":                       nil,
		"%6ceft":                               nil,
		"@acme%252fleft":                       nil,
		"@acme":                                nil,
		"@acme/left/-/left-1.0.0.tgz/-rev/1":   {Kind: registry.Artifact, Name: "@acme/left", Path: "@acme/left/-/left-1.0.0.tgz/-rev/1"},
		".left":                                nil,
		"_left":                                nil,
		"node_modules":                         nil,
		"left/-/left 1.0.0.tgz":                nil,
		strings.Repeat("a", 215):               nil,
		"download/@acme/left/1.0.0/0123456789": nil,
	} {
		t.Run(path, func(t *testing.T) {
			a, err := Ecosystem{}.Parse(origin(), &registry.Request{Method: "GET", Base: base, Path: path, Accept: "application/json"})
			switch {
			case want == nil && err == nil:
				t.Errorf("it was read as %+v", a)
			case want != nil && (err != nil || a.Kind != want.Kind || a.Name != want.Name || a.Path != want.Path || a.Form != want.Form):
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	elsewhere := origin().Artifacts[0]
	a, err := Ecosystem{}.Parse(origin(), &registry.Request{Method: "GET", Base: elsewhere, Path: "download/@acme/left/1.0.0/0123"})
	if err != nil || a.Name != "@acme/left" || a.URL() != "https://files.example/npm/download/@acme/left/1.0.0/0123" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestPins(t *testing.T) {
	tests := map[string]struct {
		base, text string
		want       []string
	}{
		"npm": {
			"package-lock.json", `{"lockfileVersion":3,"packages":{"":{"version":"9.9.9"},"node_modules/a":{"version":"1.0.0"},
			"node_modules/a/node_modules/@s/b":{"version":"2.0.0"},"node_modules/alias":{"name":"real","version":"3.0.0"}}}`,
			[]string{"a@1.0.0", "@s/b@2.0.0", "real@3.0.0"},
		},
		"npm 6":  {"npm-shrinkwrap.json", `{"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}}}}`, []string{"a@1.0.0", "b@2.0.0"}},
		"yarn 1": {"yarn.lock", "# yarn lockfile v1\n\na@^1.0.0, a@^1.1.0:\n  version \"1.2.0\"\n\n\"@s/b@~2\":\n  version \"2.0.1\"\n", []string{"a@1.2.0", "@s/b@2.0.1"}},
		"yarn 4": {"yarn.lock", "\"a@npm:^1.0.0\":\n  version: 1.2.0\n  resolution: \"a@npm:1.2.0\"\n", []string{"a@1.2.0"}},
		"pnpm":   {"pnpm-lock.yaml", "packages:\n\n  a@1.0.0:\n    resolution: {}\n\n  '@s/b@2.0.0(c@1.0.0)':\n    resolution: {}\n\n  /d@3.0.0:\n    dev: true\n\n  /e/4.0.0:\n    dev: true\n", []string{"a@1.0.0", "@s/b@2.0.0", "d@3.0.0", "e@4.0.0"}},
		"bun":    {"bun.lock", "{\n  \"packages\": {\n    \"a\": [\"a@1.0.0\", \"\", {}, \"sha512-x\"],\n    \"@s/b\": [\"@s/b@2.0.0\", {}],\n  }\n}\n", []string{"a@1.0.0", "@s/b@2.0.0"}},
		"broken": {"package-lock.json", `{"packages":{"node_modules/a":{"version":"1.0.0"},`, []string{"a@1.0.0"}},
		"other":  {"package.json", `{"packages":{"node_modules/a":{"version":"1.0.0"}}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range (Ecosystem{}).Pins(test.base, []byte(test.text)) {
				got = append(got, p.Name+"@"+p.Version)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if name == "broken" && len(got) == 0 {
				return // what could be read of it, which may be nothing
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	facts, version := &registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}
	for name, test := range map[string]struct {
		files   map[string]string
		scripts []string
		bad     bool
	}{
		"plain":             {map[string]string{"package.json": `{"name":"left","version":"1.0.0","scripts":{"test":"x"}}`}, nil, false},
		"script":            {map[string]string{"package.json": `{"name":"left","version":"1.0.0","scripts":{"postinstall":"node x"}}`}, []string{"postinstall: node x"}, false},
		"native":            {map[string]string{"package.json": `{"name":"left","version":"v1.0.0"}`, "binding.gyp": "{}"}, []string{"install: node-gyp rebuild, because there is a binding.gyp"}, false},
		"marked":            {map[string]string{"package.json": "\xef\xbb\xbf" + `{"name":"left","version":"1.0.0"}`}, nil, false},
		"another name":      {map[string]string{"package.json": `{"name":"right","version":"1.0.0"}`}, nil, true},
		"another version":   {map[string]string{"package.json": `{"name":"left","version":"1.0.1"}`}, nil, true},
		"two manifests":     {map[string]string{"package.json": `{"name":"left","version":"1.0.0"}`, "PACKAGE.json": `{"scripts":{"install":"x"}}`}, nil, true},
		"none":              {map[string]string{"index.js": ""}, nil, true},
		"a repeated name":   {map[string]string{"package.json": `{"name":"left","version":"1.0.0","scripts":{},"scripts":{"install":"x"}}`}, nil, true},
		"no JSON":           {map[string]string{"package.json": `left`}, nil, true},
		"scripts inside":    {map[string]string{"package.json": `{"name":"left","version":"1.0.0"}`, "sub/package.json": `{"scripts":{"install":"x"}}`}, nil, false},
		"scripts no object": {map[string]string{"package.json": `{"name":"left","version":"1.0.0","scripts":"x"}`}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			data := forged.Tarball(test.files)
			found, err := Ecosystem{}.Inspect(facts, version, nil, bytes.NewReader(data), int64(len(data)))
			if (err != nil) != test.bad || err == nil && !slices.Equal(found.Scripts, test.scripts) {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
	if _, err := (Ecosystem{}).Inspect(facts, version, nil, strings.NewReader("no archive"), 10); err == nil {
		t.Error("what is no archive was accepted")
	}
}

// FuzzDocument reads documents that anyone may have written. What is written of one that is
// accepted is JSON, and names no hidden version.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"name":"left","dist-tags":{"latest":"2.0.0"},"time":{"1.0.0":"2020-01-01T00:00:00Z"},"versions":{
		"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":"https://npm.example/left/-/left-1.0.0.tgz","shasum":"0123456789012345678901234567890123456789"}},
		"2.0.0":{"name":"left","version":"2.0.0","scripts":{"install":"x"},"dist":{"tarball":"https://npm.example/left/-/left-2.0.0.tgz","shasum":"0123456789012345678901234567890123456789"}}}}`))
	f.Add([]byte(`{"name":"left","versions":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, err := read(origin(), "left", &registry.Document{URL: base, Data: data})
		if err != nil {
			return
		}
		for _, v := range facts.Versions {
			if below(origin(), v.Files[0].URL) == nil {
				t.Errorf("a tarball is at %q", v.Files[0].URL)
			}
		}
		for _, form := range []string{full, short, tags, one + "latest"} {
			var out bytes.Buffer
			err := Ecosystem{}.Write(&out, facts, &registry.Ask{Form: form}, func(v string) bool { return v == "2.0.0" })
			if err != nil {
				continue
			}
			if json.Valid(data) && !json.Valid(out.Bytes()) {
				t.Fatalf("%s: no JSON was written: %s", form, &out)
			}
			again, err := read(origin(), "left", &registry.Document{URL: base, Data: out.Bytes()})
			if form == full && json.Valid(data) && (err != nil || again.Version("2.0.0") != nil) {
				t.Fatalf("what was written reads as %+v, %v", again, err)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("@acme%2fleft/-/left-1.0.0.tgz", "GET")
	f.Add("-/npm/v1/security/advisories/bulk", "POST")
	f.Fuzz(func(t *testing.T, path, method string) {
		a, err := Ecosystem{}.Parse(origin(), &registry.Request{Method: method, Base: base, Path: path, Body: []byte(path)})
		if err == nil && (strings.Contains(a.Path, "..") && slices.Contains(strings.Split(a.Path, "/"), "..") || strings.ContainsAny(a.Path, "?#\\ ")) {
			t.Errorf("%q is asked for as %q", path, a.Path)
		}
	})
}

func FuzzPins(f *testing.F) {
	for _, name := range []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"} {
		f.Add(name, []byte("a@1.0.0:\n  version \"1.0.0\"\n"))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, p := range (Ecosystem{}).Pins(name, data) {
			if !isName(p.Name) || !isVersion(p.Version) {
				t.Errorf("%+v", p)
			}
		}
	})
}

func FuzzInspect(f *testing.F) {
	f.Add(forged.Tarball(map[string]string{"package.json": `{"name":"left","version":"1.0.0","scripts":{"install":"x"}}`}))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = Ecosystem{}.Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(data), int64(len(data)))
	})
}

// A version has a provenance only if its attestations hold one.
func TestProvenance(t *testing.T) {
	for attestations, want := range map[string]registry.Told{
		`null`:                 registry.No,
		`{}`:                   registry.No,
		`{"provenance":null}`:  registry.No,
		`{"url":"provenance"}`: registry.No,
		`{"url":"https://npm.example/-/npm/v1/attestations/left@1.0.0","provenance":{"predicateType":"https://slsa.dev/provenance/v1"}}`: registry.Yes,
	} {
		doc := `{"name":"left","versions":{"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":"https://npm.example/left/-/left-1.0.0.tgz",` +
			`"shasum":"` + strings.Repeat("00", 20) + `","signatures":[],"attestations":` + attestations + `}}}}`
		facts, err := read(origin(), "left", &registry.Document{Data: []byte(doc)})
		if err != nil {
			t.Fatal(err)
		}
		if got := facts.Versions[0].Provenance; got != want {
			t.Errorf("%s: %v, want %v", attestations, got, want)
		}
	}
}

// A version of which a digest cannot be read is left out: its bytes could not be held against all
// that are listed.
func TestDigests(t *testing.T) {
	const sha1, sha256 = `"shasum":"0123456789012345678901234567890123456789"`, "sha256-LCa0a2j/xo/5m0U8HTBBNBNCLXBkg7+g+YpeiGJm564="
	for dist, want := range map[string]int{
		`"integrity":"` + sha256 + `",` + sha1:                           2,
		`"integrity":"` + sha256 + `?opt ` + sha256 + `"`:                2,
		`"integrity":"",` + sha1:                                         1,
		`"integrity":null,` + sha1:                                       1,
		`"integrity":"` + sha256 + `","shasum":null`:                     1,
		`"integrity":"` + sha256 + `","shasum":""`:                       1,
		`"integrity":"blake2b-AAAA ` + sha256 + `"`:                      1,
		`"integrity":"sha\u0032` + sha256[4:] + `"`:                      1,
		`"integrity":"blake2b-AAAA"`:                                     0,
		`"integrity":"sha512-AAAA",` + sha1:                              0,
		`"integrity":"SHA` + sha256[3:] + `",` + sha1:                    0,
		`"integrity":"` + strings.TrimSuffix(sha256, "=") + `",` + sha1:  0,
		`"integrity":"` + strings.Replace(sha256, "/", "_", 1) + `"`:     0,
		`"integrity":"sha256:` + strings.Repeat("0", 64) + `"`:           0,
		`"integrity":["` + sha256 + `"],` + sha1:                         0,
		`"integrity":{},` + sha1:                                         0,
		`"integrity":"` + sha256 + `","shasum":"0123"`:                   0,
		`"integrity":"` + sha256 + `","shasum":1`:                        0,
		`"integrity":"` + sha256 + `","integrity":"` + sha256 + `"`:      -1,
		`"integrity":"` + sha256 + `","\u0069ntegrity":"` + sha256 + `"`: -1,
		``: 0,
	} {
		doc := `{"name":"left","versions":{"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":"https://npm.example/left/-/left-1.0.0.tgz",` + dist + `}}}}`
		facts, err := read(origin(), "left", &registry.Document{Data: []byte(strings.Replace(doc, ",}", "}", 1))})
		got := -1
		if err == nil {
			got = 0
			for _, v := range facts.Versions {
				got += len(v.Files[0].Digests)
			}
		}
		if got != want {
			t.Errorf("%s: %d digests, %v; want %d", dist, got, err, want)
		}
	}
}

// Versions are known by one spelling, their tarballs by one address.
func TestVersionsLeftOut(t *testing.T) {
	for what, left := range map[[3]string]bool{ // the key, the inner version, the tarball
		{"1.0.0", "1.0.0", "https://npm.example/left/-/left-1.0.0.tgz"}:               true,
		{"1.0.0", "1.0.0", `https:\/\/npm.example\/left\/-\/left-1.0.0.tgz`}:          true,
		{"1.0.0", "1.0.0", "https://files.example/npm/left-1.0.0.tgz"}:                true,
		{`1\u002e0.0`, "1.0.0", "https://npm.example/left/-/left-1.0.0.tgz"}:          true,
		{"1.0.0", "1.0.0", "https://files.example/npm/@acme%2fleft/-/left-1.0.0.tgz"}: false,
		{"1.0.0", "1.0.0", "https://npm.example/@acme%252fleft/-/left-1.0.0.tgz"}:     false,
		{"1.0.0", "1.0.0", "https://npm.example/@acme%2f../-/left-1.0.0.tgz"}:         false,
		{"1.0.0", "1.0.0", "https://npm.example/@acme%2fleft/-/..%2fleft-1.0.0.tgz"}:  false,
		{"1.0.0", "1.0.0", "https://npm.example/@acme%2fleft/../left-1.0.0.tgz"}:      false,
		{"1.0.0", "1.0.1", "https://npm.example/left/-/left-1.0.0.tgz"}:               false,
		{"1.0.0", "v1.0.0", "https://npm.example/left/-/left-1.0.0.tgz"}:              false,
		{" 1.0.0", " 1.0.0", "https://npm.example/left/-/left-1.0.0.tgz"}:             false,
		{"created", "created", "https://npm.example/left/-/left-1.0.0.tgz"}:           false,
		{"modified", "modified", "https://npm.example/left/-/left-1.0.0.tgz"}:         false,
		{"1.0.0", "1.0.0", "http://npm.example/left/-/left-1.0.0.tgz"}:                false,
		{"1.0.0", "1.0.0", "HTTPS://npm.example/left/-/left-1.0.0.tgz"}:               false,
		{"1.0.0", "1.0.0", "//npm.example/left/-/left-1.0.0.tgz"}:                     false,
		{"1.0.0", "1.0.0", "/left/-/left-1.0.0.tgz"}:                                  false,
		{"1.0.0", "1.0.0", "https://npm.example:443/left/-/left-1.0.0.tgz"}:           false,
		{"1.0.0", "1.0.0", "https://npm.example./left/-/left-1.0.0.tgz"}:              false,
		{"1.0.0", "1.0.0", "https://a:b@npm.example/left/-/left-1.0.0.tgz"}:           false,
		{"1.0.0", "1.0.0", "https://npm.example@evil.example/left/-/left-1.0.0.tgz"}:  false,
		{"1.0.0", "1.0.0", "https://npm.example.evil.example/left/-/left-1.0.0.tgz"}:  false,
		{"1.0.0", "1.0.0", "https://npm.example/left/-/left-1.0.0.tgz?x"}:             false,
		{"1.0.0", "1.0.0", "https://npm.example/left/-/left-1.0.0.tgz#x"}:             false,
		{"1.0.0", "1.0.0", "https://npm.example/left/-/../-/left-1.0.0.tgz"}:          false,
		{"1.0.0", "1.0.0", "https://npm.example/left/-/%6ceft-1.0.0.tgz"}:             false,
		{"1.0.0", "1.0.0", "https://npm.example/left/-//left-1.0.0.tgz"}:              false,
		{"1.0.0", "1.0.0", `https://npm.example/left/-\\left-1.0.0.tgz`}:              false,
		{"1.0.0", "1.0.0", "https://files.example/left-1.0.0.tgz"}:                    false,
		{"1.0.0", "1.0.0", `https://npm.example/left/-/left-1.0.0.tgz","tarball":"x`}: false,
	} {
		doc := `{"name":"left","versions":{"` + what[0] + `":{"name":"left","version":"` + what[1] + `","dist":{"tarball":"` + what[2] +
			`","shasum":"0123456789012345678901234567890123456789"}}}}`
		facts, err := read(origin(), "left", &registry.Document{Data: []byte(doc)})
		if got := err == nil && len(facts.Versions) == 1; got != left {
			t.Errorf("%q: %v, %v", what, got, err)
		}
	}
}

// A document that two programs could read differently is refused as a whole.
func TestDocumentsRefused(t *testing.T) {
	const version = `{"name":"left","version":"1.0.0","dist":{"tarball":"https://npm.example/left/-/left-1.0.0.tgz","shasum":"0123456789012345678901234567890123456789"}}`
	const whole = `{"name":"left","versions":{"1.0.0":` + version + `},"time":{"1.0.0":"2020-01-01T00:00:00Z"}}`
	if _, err := read(origin(), "left", &registry.Document{Data: []byte(whole)}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"versions twice":            {`"time"`, `"versions":{},"time"`},
		"versions twice, escaped":   {`"time"`, `"\u0076ersions":{},"time"`},
		"times twice":               {`"time"`, `"t\u0069me":{},"time"`},
		"a version twice":           {`:` + version, `:` + version + `,"1.0.0":{}`},
		"a version twice, escaped":  {`:` + version, `:` + version + `,"1\u002e0.0":{}`},
		"a time twice":              {`"1.0.0":"2020`, `"1.0.0":"2030-01-01T00:00:00Z","1.0.0":"2020`},
		"a time twice, escaped":     {`"1.0.0":"2020`, `"1.0.\u0030":"2030-01-01T00:00:00Z","1.0.0":"2020`},
		"dist twice":                {`"dist"`, `"d\u0069st":{},"dist"`},
		"a name twice":              {`"name":"left","version"`, `"name":"left","name":"right","version"`},
		"a prototype":               {`"time"`, `"__proto__":{},"time"`},
		"a prototype, escaped":      {`"time"`, `"\u005f_proto__":{},"time"`},
		"another name":              {`{"name":"left","versions"`, `{"name":"Left","versions"`},
		"no name":                   {`{"name":"left","versions"`, `{"versions"`},
		"a name that is no text":    {`{"name":"left","versions"`, `{"name":["left"],"versions"`},
		"brackets":                  {`"time"`, `"x":[},"time"`},
		"a comment":                 {`"time"`, `/* "versions":{} */"time"`},
		"a comment in what is kept": {`"version"`, `"x":{"a":/*"*/1},"version"`},
		"a comma too many":          {`"version"`, `"x":[1,],"version"`},
		"no number":                 {`"version"`, `"x":NaN,"version"`},
		"a raw line end":            {`"version"`, "\"x\":\"\n\",\"version\""},
		"an unknown escape":         {`"version"`, `"x":"\x61","version"`},
		"no UTF-8":                  {`"version"`, "\"x\":\"\xff\",\"version\""},
		"a mark at its start":       {`{"name":"left","versions"`, "\xef\xbb\xbf" + `{"name":"left","versions"`},
		"something after its end":   {`00Z"}}`, `00Z"}}{}`},
	} {
		text := strings.Replace(whole, change[0], change[1], 1)
		if _, err := read(origin(), "left", &registry.Document{Data: []byte(text)}); err == nil || text == whole {
			t.Errorf("%s: it was read: %s", name, text)
		}
	}
}
