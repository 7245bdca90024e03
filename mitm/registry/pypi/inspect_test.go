package pypi

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// wheel packs names and contents.
func wheel(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		f, err := w.Create(pairs[i])
		if err == nil {
			_, err = f.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// goodWheel is a wheel that installs.
func goodWheel(t testing.TB, name, version string, more ...string) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	record := name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"
	return wheel(t, append([]string{
		name + ".py", "version = '" + version + "'\n",
		info + "METADATA", metadataText(name, version),
		info + "WHEEL", "Wheel-Version: 1.0\nGenerator: forged\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "RECORD", record,
	}, more...)...)
}

func metadataText(name, version string) string {
	return "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\nSummary: forged\n\nName: body\n"
}

func sdist(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for i := 0; i < len(pairs); i += 2 {
		err := w.WriteHeader(&tar.Header{Name: pairs[i], Typeflag: tar.TypeReg, Size: int64(len(pairs[i+1])), Mode: 0o644})
		if err == nil {
			_, err = w.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func inspect(file string, data []byte) (*registry.Inspection, error) {
	f := &registry.File{URL: "https://files.example/p/" + file}
	if strings.HasSuffix(file, metadataSuffix) {
		f.Of = trimMetadata(f.URL)
	}
	return Ecosystem{}.Inspect(&registry.Facts{Name: "foo-bar"}, &registry.Version{Version: "1.0"}, f, bytes.NewReader(data), int64(len(data)))
}

// A copy of the metadata that is another than the wheel's would have clients resolve by what they
// do not install.
func TestMetadataBesideAWheel(t *testing.T) {
	data := goodWheel(t, "foo_bar", "1.0")
	for name, c := range map[string]struct {
		digests []registry.Digest
		good    bool
	}{
		"the same":      {[]registry.Digest{digestOf(metadataText("foo_bar", "1.0"))}, true},
		"no digest":     {nil, true},
		"another":       {[]registry.Digest{digestOf(metadataText("foo_bar", "1.0") + "\n")}, false},
		"one of them":   {[]registry.Digest{digestOf(metadataText("foo_bar", "1.0")), digestOf("")}, false},
		"of an unknown": {[]registry.Digest{{Algorithm: "x"}}, false},
	} {
		whole := registry.File{URL: "https://files.example/foo_bar-1.0-py3-none-any.whl"}
		beside := registry.File{URL: whole.URL + metadataSuffix, Of: whole.URL, Digests: c.digests}
		facts := &registry.Facts{Name: "foo-bar", Versions: []registry.Version{{Version: "1.0", Files: []registry.File{whole, beside}}}}
		_, err := Ecosystem{}.Inspect(facts, &facts.Versions[0], &whole, bytes.NewReader(data), int64(len(data)))
		if c.good && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !c.good {
			registrytest.Refused(t, err, registry.ReasonContent)
		}
	}
}

func digestOf(text string) registry.Digest {
	sum := sha256.Sum256([]byte(text))
	return registry.Digest{Algorithm: "sha256", Sum: sum[:]}
}

func TestInspect(t *testing.T) {
	const whl, source = "foo_bar-1.0-py3-none-any.whl", "foo_bar-1.0.tar.gz"
	about := metadataText("Foo.Bar", "1.0.0")
	infoOnly := func(metadata string) []byte {
		return wheel(t, "foo_bar-1.0.dist-info/METADATA", metadata, "foo_bar-1.0.dist-info/WHEEL", "", "foo_bar-1.0.dist-info/RECORD", "")
	}
	for _, tc := range []struct {
		name, file string
		data       []byte
		want       string // Scripts, or the refusal
	}{
		{"wheel", whl, goodWheel(t, "foo_bar", "1.0"), "[]"},
		{"wheel, 1.0.0", whl, goodWheel(t, "Foo_Bar", "1.0.0"), "[]"},
		{"wheel of another", whl, goodWheel(t, "foo_baz", "1.0"), "another package"},
		{"wheel of another version", whl, goodWheel(t, "foo_bar", "1.1"), "another package"},
		{"two packages", whl, goodWheel(t, "foo_bar", "1.0", "evil-1.0.dist-info/METADATA", "Name: evil\nVersion: 1.0\n"), "another package"},
		{"two spellings", whl, goodWheel(t, "foo_bar", "1.0", "Foo_Bar-1.0.dist-info/METADATA", about), "another package"},
		{"other metadata", whl, infoOnly(metadataText("foo-baz", "1.0")), "another name"},
		{"two names", whl, infoOnly("Name: foo-bar\nname: evil\nVersion: 1.0\n"), "two names"},
		{"a name behind a carriage return", whl, infoOnly("Summary: x\rName: evil\nName: foo-bar\nVersion: 1.0\n"), "two names"},
		{"a name in the body", whl, infoOnly("Version: 1.0\n\nName: foo-bar\n"), "another name"},
		{"no metadata", whl, wheel(t, "foo_bar.py", ""), "incomplete"},
		{"no zip", whl, []byte("PK"), "not a zip file"},
		{"pth", whl, goodWheel(t, "foo_bar", "1.0", "x.pth", "# x\nimport os; os.getcwd()\n", "y.pth", "lib\n", "sub/z.pth", "import os\n"), "[whenever Python starts: x.pth]"},
		{"pth in data", whl, goodWheel(t, "foo_bar", "1.0", "foo_bar-1.0.data/purelib/x\u202e.pth", "import\tos"), "[whenever Python starts: (unreadable)]"},
		{"pth behind a form feed", whl, goodWheel(t, "foo_bar", "1.0", "x.pth", "lib\x0cimport os"), "[whenever Python starts: x.pth]"},
		{"pth behind a mark", whl, goodWheel(t, "foo_bar", "1.0", "x.pth", "\ufeffimport os"), "[whenever Python starts: x.pth]"},
		{"pth below the prefix", whl, goodWheel(t, "foo_bar", "1.0", "foo_bar-1.0.data/data/lib/python3.13/site-packages/x.pth", "import os"), "[whenever Python starts: x.pth]"},
		{"data below the prefix", whl, goodWheel(t, "foo_bar", "1.0", "foo_bar-1.0.data/data/share/x.pth", "import os"), "[]"},
		{"sitecustomize as a package", whl, goodWheel(t, "foo_bar", "1.0", "sitecustomize/__init__.py", ""), "[whenever Python starts: sitecustomize]"},
		{"compiled usercustomize", whl, goodWheel(t, "foo_bar", "1.0", "foo_bar-1.0.data/platlib/usercustomize.cpython-313-x86_64-linux-gnu.so", ""), "[whenever Python starts: usercustomize.cpython-313-x86_64-linux-gnu.so]"},
		{"sitecustomize", whl, goodWheel(t, "foo_bar", "1.0", "sitecustomize.py", ""), "[whenever Python starts: sitecustomize.py]"},
		{"metadata", whl + metadataSuffix, []byte(about), "[]"},
		{"metadata of another", whl + metadataSuffix, []byte(metadataText("foo", "1.0")), "another name"},
		{"setup.py", source, sdist(t, "foo_bar-1.0/PKG-INFO", about, "foo_bar-1.0/setup.py", ""), "[build: setup.py]"},
		{"backend", source, sdist(t, "foo_bar-1.0/PKG-INFO", about, "foo_bar-1.0/pyproject.toml", "[build-system]\nrequires = ['hatchling']\nbuild-backend = 'hatchling.build'\n"), "[build: hatchling.build]"},
		{"backend of its own", source, sdist(t, "x/PKG-INFO", about, "x/setup.py", "", "x/pyproject.toml", "build-system = {build-backend = 'b', backend-path = ['.']}"), "[build: b (its own) build: setup.py]"},
		{"broken pyproject", source, sdist(t, "x/PKG-INFO", about, "x/pyproject.toml", "["), "[build: pyproject.toml (unreadable)]"},
		{"hostile backend", source, sdist(t, "x/PKG-INFO", about, "x/pyproject.toml", "build-system.build-backend = '\x7f\u202e'"), "unreadable)]"},
		{"nothing", source, sdist(t, "x/PKG-INFO", about), "[build: setuptools]"},
		{"zip", "foo_bar-1.0.zip", wheel(t, "x/PKG-INFO", about, "x/setup.py", ""), "[build: setup.py]"},
		{"no PKG-INFO", source, sdist(t, "x/setup.py", ""), "no PKG-INFO"},
		{"PKG-INFO elsewhere", source, sdist(t, "x/foo.egg-info/PKG-INFO", about), "no PKG-INFO"},
		{"PKG-INFO twice", source, sdist(t, "x/PKG-INFO", about, "x/PKG-INFO", about), "twice"},
		{"PKG-INFO of another", source, sdist(t, "x/PKG-INFO", metadataText("foo-bar", "1.1")), "another name"},
		{"two directories", source, sdist(t, "x/PKG-INFO", about, "y/setup.py", ""), "top directory"},
		{"out of it", source, sdist(t, "x/PKG-INFO", about, "x/../../y", ""), "leads out"},
		{"large", source, sdist(t, "x/PKG-INFO", about, "x/blob", strings.Repeat("\x00", archive.MaxDecoded)), "[build: setuptools the archive is too large to be inspected completely]"},
		{"large, metadata behind", source, sdist(t, "x/blob", strings.Repeat("\x00", archive.MaxDecoded), "x/PKG-INFO", about), "too large"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in, err := inspect(tc.file, tc.data)
			got := ""
			if err != nil {
				reason := registry.ReasonContent
				if strings.Contains(tc.want, "too large") {
					reason = registry.ReasonLimit
				}
				registrytest.Refused(t, err, reason)
				got = err.Error()
			} else {
				got = fmt.Sprint(in.Scripts)
			}
			if !strings.Contains(got, tc.want) || (err != nil) == strings.HasSuffix(tc.want, "]") {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPins(t *testing.T) {
	const packages = "[[package]]\nname = \"Foo_Bar\"\nversion = \"1.0\"\ndescription = \"\"\"\n[[package]]\nname = \"no\"\n\"\"\"\n\n" +
		"[[package]]\nname = \"local\"\nsource = { editable = \".\" }\n[[package]]\nname = \"baz\"\nversion = \"2.0+cpu\"\nsource = { registry = \"https://pypi.example/simple\" }\n"
	for _, tc := range []struct{ base, text, want string }{
		{"poetry.lock", packages, "foo-bar@1.0 baz@2.0+cpu"},
		{"uv.lock", packages, "foo-bar@1.0 baz@2.0+cpu"},
		{"uv.lock", packages + "<<<<<<< HEAD\n[[package]]\nname = \"x\"\nversion = \"1\"\n", "foo-bar@1.0 baz@2.0+cpu"},
		{"pylock.toml", "lock-version = '1.0'\n[[packages]]\nname = 'foo'\nversion = '1.0'\n", "foo@1.0"},
		{"pylock.dev.toml", "[[packages]]\nname = 'foo'\nversion = '1.0'\n", "foo@1.0"},
		{"Pipfile.lock", `{"_meta":{"hash":{"sha256":"x"}},"default":{"foo":{"hashes":["x"],"version":"==1.0"},"git":{"git":"https://git.example/x"}},"develop":{"Bar":{"version":"===2.0"}}}`, "foo@1.0 bar@2.0"},
		{"requirements-dev.txt", "# pins\nfoo==1.0 ; python_version < '4' \\\n    --hash=sha256:00\nBar.Baz[x,y] == 2.0, <3\nqux>=1\nw==1.*\n-r other.txt\nlast===3.0#x\nhttps://files.example/y==1.whl\n(p)==1\n", "foo@1.0 bar-baz@2.0 last@3.0"},
		{"constraints.txt", "foo==1.0", "foo@1.0"},
		{"notes.txt", "foo==1.0", ""},
		{"Cargo.lock", packages, ""},
		{"Pipfile.lock", "{", ""},
	} {
		var all []string
		for _, p := range (Ecosystem{}).Pins(tc.base, []byte(tc.text)) {
			all = append(all, p.Name+"@"+p.Version)
		}
		if got := strings.Join(all, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.base, got, tc.want)
		}
	}
}

// What a wheel or the metadata beside it needs is told; a body, a foreign field and what is no
// name are not.
func TestNeeds(t *testing.T) {
	about := "Name: foo-bar\nVersion: 1.0\nRequires-Dist: Foo_Baz[x]>=1; extra == 'y'\nrequires-dist: six (>=1)\n" +
		"Requires-Python: >=3\nRequires-Dist: url-one @ https://files.example/x\nRequires-Dist: ;bad\n\nRequires-Dist: body\n"
	want := []registry.Pin{{Name: "foo-baz"}, {Name: "six"}, {Name: "url-one"}}
	for file, data := range map[string][]byte{
		"foo_bar-1.0-py3-none-any.whl.metadata": []byte(about),
		"foo_bar-1.0-py3-none-any.whl":          wheel(t, "foo_bar-1.0.dist-info/METADATA", about, "foo_bar-1.0.dist-info/WHEEL", "", "foo_bar-1.0.dist-info/RECORD", ""),
	} {
		asked := &registry.File{URL: "https://files.example/" + file}
		if whole, beside := strings.CutSuffix(asked.URL, metadataSuffix); beside {
			asked.Of = whole
		}
		in, err := Ecosystem{}.Inspect(&registry.Facts{Name: "foo-bar"}, &registry.Version{Version: "1.0"}, asked, bytes.NewReader(data), int64(len(data)))
		if err != nil || !slices.Equal(in.Needs, want) {
			t.Errorf("%s: %v, %v", file, in, err)
		}
	}
}
