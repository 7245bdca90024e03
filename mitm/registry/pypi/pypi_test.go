package pypi

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"1.0": "1.0 1", "1.0.0": "1.0.0 1", "v01.002": "1.2 1.2", "1!2.0": "1!2.0 1!2", "0": "0 0", "0.0": "0.0 0",
		"1.0alpha": "1.0a0 1a0 pre", "1.0-Beta.2": "1.0b2 1b2 pre", "1.0c1": "1.0rc1 1rc1 pre", "1.0.preview-3": "1.0rc3 1rc3 pre",
		"1.0-1": "1.0.post1 1.post1", "1.0rev2": "1.0.post2 1.post2", "1.0.post": "1.0.post0 1.post0",
		"1.0.dev": "1.0.dev0 1.dev0 pre", "1.0a1.post2.dev3": "1.0a1.post2.dev3 1a1.post2.dev3 pre",
		"1.0+Ubuntu-01.x": "1.0+ubuntu.1.x 1+ubuntu.1.x",
		"":                "", "a": "", "1.0-bar": "", "1..0": "", "1.0+": "", "1.0 ": "", "١": "", "1.*": "",
	} {
		v, ok := parseVersion(text)
		got := ""
		if ok {
			got = v.text + " " + v.key
			if v.prerelease {
				got += " pre"
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFileNames(t *testing.T) {
	for _, tc := range []struct{ file, project, want string }{
		{"foo-1.0.tar.gz", "foo", "1.0"},
		{"Foo_Bar-1.0.zip", "foo-bar", "1.0"},
		{"foo-bar-1.0.tar.gz", "foo-bar", "1.0"},
		{"foo-bar-1.0.tar.gz", "foo", ""},
		{"foo-1-2.tar.gz", "foo", "1.post2"},
		{"foo-1-2.tar.gz", "foo-1", "2"},
		{"foo-1.0.exe", "foo", ""},
		{"foo-1.0.egg", "foo", ""},
		{"foo-1.0-py3-none-any.whl", "foo", "1.0"},
		{"foo-1.0-2b-py3-none-any.whl", "foo", "1.0"},
		{"foo-1.0-b2-py3-none-any.whl", "foo", ""},
		{"foo-1.0_cpu.1-py3-none-any.whl", "foo", ""},
		{"foo-1.0+cpu_1-py3-none-any.whl", "foo", "1.0+cpu.1"},
		{"foo-1.0-py3-none.whl", "foo", ""},
		{"foo bar-1.0.tar.gz", "foo-bar", ""},
		{"foo-1.0.tar.gz\n", "foo", ""},
	} {
		d, ok := distributionOf(tc.file, tc.project)
		if ok != (tc.want != "") || ok && d.version.text != tc.want {
			t.Errorf("%q of %s: %q %v, want %q", tc.file, tc.project, d.version.text, ok, tc.want)
		}
	}
}

func TestParse(t *testing.T) {
	mirror := &registry.Origin{
		URL:       address(t, "https://mirror.example/api/pypi/all/simple/"),
		Aliases:   []*url.URL{address(t, "https://old.example/simple/")},
		Artifacts: []*url.URL{address(t, "https://mirror.example/api/pypi/all/")},
	}
	other := &registry.Origin{URL: address(t, "https://wheels.example/whl/cpu/")}
	for _, tc := range []struct {
		origin            *registry.Origin
		base, path, query string
		want              string // KIND NAME VERSION FORM ADDRESS, or the reason
	}{
		{index(t), "", "simple/foo-bar/", "", "0 foo-bar  html simple/foo-bar/"},
		{index(t), "", "simple/", "", "registry-path"},
		{index(t), "", "simple", "", "registry-path"},
		{index(t), "", "", "", "registry-path"},
		{index(t), "", "simple/foo-bar", "", "registry-path"},
		{index(t), "", "simple/Foo_Bar/", "", "registry-path"},
		{index(t), "", "simple/foo--bar/", "", "registry-path"},
		{index(t), "", "simple/foo%2dbar/", "", "registry-path"},
		{index(t), "", "simple//foo/", "", "registry-path"},
		{index(t), "", "simple/../foo/", "", "registry-path"},
		{index(t), "", "simple/foo/", "x=1", "registry-path"},
		{index(t), "", "foo/", "", "registry-path"},
		{index(t), "", "pypi", "", "registry-path"},
		{index(t), "", "pypi/foo/json", "", "0 foo  project pypi/foo/json"},
		{index(t), "", "pypi/foo/1.0/json", "", "0 foo 1.0 release pypi/foo/1.0/json"},
		{index(t), "", "pypi/foo/1.0+x/json", "", "0 foo 1.0+x release pypi/foo/1.0%2Bx/json"},
		{index(t), "", "pypi/foo/01.0/json", "", "registry-path"},
		{index(t), "", "pypi/Foo/json", "", "registry-path"},
		{index(t), "", "pypi/foo/1.0/2/json", "", "registry-path"},
		{index(t), "", "integrity/foo/1.0/foo-1.0.tar.gz/provenance", "", "registry-path"},
		{index(t), "https://files.example/", "p/foo_bar-1.0.tar.gz", "", "1 foo-bar 1.0  https://files.example/p/foo_bar-1.0.tar.gz"},
		{index(t), "https://files.example/", "p/foo-1.0-py3-none-any.whl.metadata", "", "1 foo 1.0  https://files.example/p/foo-1.0-py3-none-any.whl.metadata"},
		{index(t), "https://files.example/", "p/foo-1+c-py3-none-any.whl", "", "1 foo 1+c  https://files.example/p/foo-1%2Bc-py3-none-any.whl"},
		{index(t), "https://files.example/", "p/foo-1%2bc-py3-none-any.whl", "", "1 foo 1+c  https://files.example/p/foo-1%2Bc-py3-none-any.whl"},
		{index(t), "https://files.example/", "p/foo%2D1.0.tar.gz", "", "registry-path"},
		{index(t), "https://files.example/", "p/../foo-1.0.tar.gz", "", "registry-path"},
		{index(t), "https://files.example/", "p/%2e%2e/foo-1.0.tar.gz", "", "registry-path"},
		{index(t), "https://files.example/", "simple/foo/", "", "registry-path"},
		{index(t), "https://files.example/", "p/foo-1.0.tar.gz.asc", "", "registry-path"},
		{mirror, "", "foo/", "", "0 foo  html foo/"},
		{mirror, "", "simple/foo/", "", "registry-path"},
		{mirror, "", "pypi/foo/json", "", "registry-path"},
		{mirror, "https://old.example/simple/", "foo/", "", "0 foo  html foo/"},
		{mirror, "https://old.example/simple/", "foo/foo-1.0.tar.gz", "", "1 foo 1.0  https://mirror.example/api/pypi/all/simple/foo/foo-1.0.tar.gz"},
		{mirror, "https://mirror.example/api/pypi/all/", "packages/foo-1.0.tar.gz", "", "1 foo 1.0  https://mirror.example/api/pypi/all/packages/foo-1.0.tar.gz"},
		{other, "", "foo/", "", "0 foo  html foo/"},
		{other, "", "simple/foo/", "", "0 foo  html simple/foo/"},
	} {
		base := tc.origin.URL
		if tc.base != "" {
			base = address(t, tc.base)
		}
		a, err := Ecosystem{}.Parse(tc.origin, &registry.Request{Method: "GET", Base: base, Path: tc.path, Query: tc.query})
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
		if got := strings.Join([]string{string('0' + rune(a.Kind)), a.Name, a.Version, a.Form, where}, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.path, got, tc.want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", ""} {
		_, err := Ecosystem{}.Parse(index(t), &registry.Request{Method: method, Base: index(t).URL, Path: "simple/foo/"})
		registrytest.Refused(t, err, registry.ReasonMethod)
	}
}

func TestAccept(t *testing.T) {
	for accept, want := range map[string]string{
		"": "html text/html", "*/*": "html text/html", "text/html": "html text/html", "application/json": "html text/html",
		"application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01": "json " + typeJSON,
		"application/vnd.pypi.simple.v1+json;q=0.2, text/html;q=0.9":                                         "html text/html",
		"application/vnd.pypi.simple.latest+json":                                                            "json " + typeJSON,
		"application/vnd.pypi.simple.v1+html":                                                                "html " + typeHTML1,
		"application/vnd.pypi.simple.v1+json;q=NaN":                                                          "html text/html",
		"application/vnd.pypi.simple.v1+json;q=0, text/html;q=0.1":                                           "html text/html",
	} {
		form, media := negotiate(accept)
		if form+" "+media != want {
			t.Errorf("%q: %s %s, want %s", accept, form, media, want)
		}
	}
}

func TestFacts(t *testing.T) {
	_, facts, err := document(t, upstream{"simple/foo-bar/": project}, "simple/foo-bar/", typeJSON)
	if err != nil {
		t.Fatal(err)
	}
	want := `1.0 2020-01-03 Foo_Bar-1.0.tar.gz foo_bar-1.0-py3-none-any.whl foo_bar-1.0-py3-none-any.whl.metadata
2.0rc1 pre foo_bar-2.0rc1-py3-none-any.whl
2.0+cpu 2024-05-06 foo_bar-2.0%2Bcpu-py3-none-any.whl
`
	if got := shape(facts); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	v, file := facts.File("https://files.example/packages/bb/foo_bar-1.0-py3-none-any.whl.metadata")
	if v == nil || file.Of != strings.TrimSuffix(file.URL, metadataSuffix) || file.Weak || len(file.Digests) != 1 {
		t.Errorf("%+v", file)
	}
	if _, weak := facts.File("https://files.example/packages/cc/foo_bar-2.0rc1-py3-none-any.whl"); weak == nil || !weak.Weak {
		t.Errorf("%+v", weak)
	}
	if facts.Versions[0].Provenance != registry.No || facts.Versions[1].Provenance != registry.NotTold {
		t.Error("provenance", facts.Versions[0].Provenance, facts.Versions[1].Provenance)
	}
}

// A file that is added to an old version makes it young again, and one without a time makes
// its age unknown.
func TestAgeIsThatOfTheNewestFile(t *testing.T) {
	file := func(name, time string) string {
		return `{"filename":"` + name + `","url":"https://files.example/` + name + `","hashes":{},"upload-time":` + time + `}`
	}
	doc := func(files ...string) upstream {
		return upstream{"simple/foo/": typeJSON + ` {"meta":{"api-version":"1.1"},"name":"foo","files":[` + strings.Join(files, ",") + `]}`}
	}
	for _, tc := range []struct{ second, want string }{
		{`"2024-06-01T00:00:00Z"`, "2024-06-01"}, {`"2019-06-01T00:00:00Z"`, "2020-01-01"}, {`null`, "0001-01-01"}, {`"yesterday"`, "0001-01-01"},
	} {
		_, facts, err := document(t, doc(file("foo-1.0.tar.gz", `"2020-01-01T00:00:00Z"`), file("foo-1.0.0.zip", tc.second)), "simple/foo/", "")
		if err != nil || len(facts.Versions) != 1 || facts.Versions[0].Published.Format("2006-01-02") != tc.want {
			t.Errorf("%s: %v %v", tc.second, facts, err)
		}
	}
}

func TestWriteCopiesJSON(t *testing.T) {
	u := upstream{"simple/foo-bar/": project}
	all, _, err := document(t, u, "simple/foo-bar/", typeJSON)
	if err != nil {
		t.Fatal(err)
	}
	some, _, err := document(t, u, "simple/foo-bar/", typeJSON, "1.0", "2.0+cpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ text, files, versions string }{
		{all, "Foo_Bar-1.0.tar.gz foo_bar-1.0-py3-none-any.whl foo_bar-2.0rc1-py3-none-any.whl foo_bar-2.0+cpu-py3-none-any.whl", "1.0 2.0rc1 2.0+cpu"},
		{some, "foo_bar-2.0rc1-py3-none-any.whl", "2.0rc1"},
	} {
		var doc struct {
			Files    []struct{ Filename string }
			Versions []string
			Tail     string
		}
		if err := json.Unmarshal([]byte(tc.text), &doc); err != nil {
			t.Fatalf("%v: %s", err, tc.text)
		}
		var files []string
		for _, f := range doc.Files {
			files = append(files, f.Filename)
		}
		if got := strings.Join(files, " "); got != tc.files || strings.Join(doc.Versions, " ") != tc.versions || doc.Tail != "kept" {
			t.Errorf("%s", tc.text)
		}
	}
	if !strings.Contains(all, `"yanked":"broken <b>"}`) {
		t.Error("an entry was not copied as it was")
	}
	_, _, err = document(t, u, "simple/foo-bar/", typeJSON, "1.0", "2.0rc1", "2.0+cpu")
	registrytest.Refused(t, err, registry.ReasonQuarantine)
}

func TestWriteHTML(t *testing.T) {
	got, _, err := document(t, upstream{"simple/foo-bar/": project}, "simple/foo-bar/", "text/html", "2.0rc1")
	want := `<!DOCTYPE html>
<html>
<head>
<meta name="pypi:repository-version" content="1.0">
<title>Links for foo-bar</title>
</head>
<body>
<h1>Links for foo-bar</h1>
<a href="https://files.example/packages/aa/Foo_Bar-1.0.tar.gz#sha256=` + sha + `">Foo_Bar-1.0.tar.gz</a><br>
<a href="https://files.example/packages/bb/foo_bar-1.0-py3-none-any.whl#sha256=` + sha + `" data-requires-python="&gt;=3.8" data-core-metadata="sha256=` + sha + `" data-dist-info-metadata="sha256=` + sha + `" data-yanked="broken &lt;b&gt;">foo_bar-1.0-py3-none-any.whl</a><br>
<a href="https://pypi.example/packages/foo_bar-2.0%2Bcpu-py3-none-any.whl">foo_bar-2.0+cpu-py3-none-any.whl</a><br>
</body>
</html>
`
	if got != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
}

const anchors = `text/html <!DOCTYPE html><html><head><base href="https://files.example/x/"><base href="https://evil.example/"></head><body>
<!-- <a href="foo-6.tar.gz">foo-6.tar.gz</a> --><script>"<a href='foo-7.tar.gz'>"</script>
<a href="../foo-1.0.tar.gz#sha256=` + sha + `" data-requires-python="&gt;=3.7,&lt;4">whatever</a><br/>
<A HREF='foo-2.0-py3-none-any.whl#sha256=` + sha + `' data-yanked data-dist-info-metadata="sha256=` + sha + `">foo</A>
<a href="https://evil.example/foo-3.tar.gz">foo-3.tar.gz</a> <a href="foo-4.tar.gz#egg=foo">4</a> <a name="x">x</a>
<a href="foo-5.tar.gz?x=1">foo-5.tar.gz</a></body></html>`

func TestHTMLIndex(t *testing.T) {
	u := upstream{"simple/foo/": anchors}
	html, facts, err := document(t, u, "simple/foo/", "text/html")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(facts), "1.0 foo-1.0.tar.gz\n2.0 withdrawn foo-2.0-py3-none-any.whl foo-2.0-py3-none-any.whl.metadata\n"; got != want {
		t.Errorf("%s", got)
	}
	for _, want := range []string{
		`"https://files.example/foo-1.0.tar.gz#sha256=` + sha + `" data-requires-python="&gt;=3.7,&lt;4"`,
		`"https://files.example/x/foo-2.0-py3-none-any.whl#sha256=` + sha + `"`, `data-yanked=""`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	text, _, err := document(t, u, "simple/foo/", typeJSON, "2.0")
	want := `{"meta":{"api-version":"1.0"},"name":"foo","files":[{"filename":"foo-1.0.tar.gz","url":"https://files.example/foo-1.0.tar.gz","hashes":{"sha256":"` + sha + `"},"requires-python":">=3.7,<4"}]}` + "\n"
	if text != want || err != nil {
		t.Errorf("%v %s", err, text)
	}
	text, _, err = document(t, u, "simple/foo/", typeJSON, "1.0")
	if !strings.Contains(text, `"core-metadata":{"sha256":"`+sha+`"},"yanked":true}`) || err != nil {
		t.Errorf("%v %s", err, text)
	}
}

func TestDocumentsRefused(t *testing.T) {
	file := `{"filename":"foo-1.0.tar.gz","url":"https://files.example/foo-1.0.tar.gz","hashes":{"sha256":"` + sha + `"}}`
	doc := func(files string) string {
		return typeJSON + ` {"meta":{"api-version":"1.0"},"name":"foo","files":[` + files + `]}`
	}
	if _, _, err := document(t, upstream{"simple/foo/": doc(file + "," + file)}, "simple/foo/", ""); err != nil {
		t.Errorf("the same twice: %v", err)
	}
	for name, text := range map[string]string{
		"another name":          strings.Replace(doc(file), `"foo"`, `"fooo"`, 1),
		"no name":               strings.Replace(doc(file), `"name":"foo",`, ``, 1),
		"version 2":             strings.Replace(doc(file), `"1.0"`, `"2.0"`, 1),
		"files twice":           strings.Replace(doc(file), `"name"`, `"files":[],"name"`, 1),
		"files twice, escaped":  strings.Replace(doc(file), `"name"`, `"\u0066iles":[],"name"`, 1),
		"Files":                 strings.Replace(doc(file), `"name"`, `"Files":[],"name"`, 1),
		"url twice":             doc(strings.Replace(file, `"url"`, `"url":"https://files.example/x/foo-1.0.tar.gz","url"`, 1)),
		"URL":                   doc(strings.Replace(file, `"url"`, `"URL":"x","url"`, 1)),
		"Yanked":                doc(strings.Replace(file, `"url"`, `"Yanked":true,"url"`, 1)),
		"sha256 twice":          doc(strings.Replace(file, `"sha256"`, `"sha256":"","sha256"`, 1)),
		"short digest":          doc(strings.Replace(file, sha, sha[2:], 1)),
		"a file twice":          doc(file + "," + strings.Replace(file, `/foo`, `/x/foo`, 1)),
		"another digest":        doc(file + "," + strings.Replace(file, `2c26`, `2c27`, 1)),
		"metadata in two words": doc(strings.Replace(file, `"url"`, `"core-metadata":true,"dist-info-metadata":false,"url"`, 1)),
		"half a surrogate pair": doc(strings.Replace(file, `foo-1.0.tar.gz"`, `\ud800"`, 1)),
		"brackets":              doc(strings.Replace(file, `"hashes":{`, `"x":[},"hashes":{`, 1)),
		"NaN":                   doc(strings.Replace(file, `"hashes":{`, `"x":NaN,"hashes":{`, 1)),
		"size":                  doc(strings.Replace(file, `"hashes":{`, `"size":-1,"hashes":{`, 1)),
		"not UTF-8":             doc(strings.Replace(file, `"hashes":{`, "\"x\":\"\xff\",\"hashes\":{", 1)),
		"other files only":      doc(strings.Replace(file, `files.example`, `evil.example`, 1)),
		"no JSON":               typeJSON + " <html></html>",
		"another type":          "text/plain x",
		"empty":                 typeJSON + " ",
		"HTML, two metadata":    `text/html <a href="foo-1.tar.gz" data-core-metadata="true" data-dist-info-metadata="false">x</a>`,
		"HTML, a file twice":    `text/html <a href="https://files.example/foo-1.tar.gz">x</a><a href="https://files.example/x/foo-1.tar.gz">x</a>`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := document(t, upstream{"simple/foo/": text}, "simple/foo/", typeJSON)
			registrytest.Refused(t, err, registry.ReasonDocument)
		})
	}
	_, _, err := document(t, upstream{"simple/foo/": doc("")}, "simple/foo/", "")
	registrytest.Refused(t, err, registry.ReasonNotFound)
}
