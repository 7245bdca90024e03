package gomod

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// inspect looks into bytes of a.example/b@v1.0.0; hash is what the database lists, if any.
func inspect(extension, hash string, data []byte) (*registry.Inspection, error) {
	v := &registry.Version{Version: "v1.0.0"}
	file := &registry.File{URL: "https://modules.example/a.example/b/@v/v1.0.0." + extension}
	if hash != "" {
		file.Digests = []registry.Digest{{Algorithm: "h1", Sum: []byte(hash)}}
	}
	return (&Ecosystem{}).Inspect(&registry.Facts{Name: "a.example/b"}, v, file, bytes.NewReader(data), int64(len(data)))
}

func TestInspectComparesTheHash(t *testing.T) {
	data := zipOf(t, "a.example/b@v1.0.0/", map[string]string{"go.mod": "module a.example/b\n", "b.go": "package b\n", "in/c.go": "package in\n"})
	hash, err := hashOfZip(data)
	if err != nil {
		t.Fatal(err)
	}
	found, err := inspect("zip", hash, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b.go", "go.mod", "in/c.go"}, found.Files); diff != "" {
		t.Error(diff)
	}
	if _, err := inspect("zip", "", data); err != nil {
		t.Errorf("a private zip: %v", err)
	}
	mod := []byte("module a.example/b\n")
	if _, err := inspect("mod", hashOfMod(mod), mod); err != nil {
		t.Errorf("the .mod: %v", err)
	}
	if _, err := inspect("info", "", []byte(`{"Version":"v1.0.0","Time":"2020-01-02T03:04:05Z","Origin":{"VCS":"git"}}`)); err != nil {
		t.Errorf("the .info: %v", err)
	}
	for name, test := range map[string]struct {
		extension, hash string
		data            []byte
	}{
		"a zip":                 {"zip", hashOfMod(mod), data},
		"a .mod":                {"mod", hash, mod},
		"a .info":               {"info", "", []byte(`{"Version":"v1.0.1"}`)},
		"a .info said twice":    {"info", "", []byte(`{"Version":"v1.0.0","version":"v1.0.1"}`)},
		"a .info of no version": {"info", "", []byte(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inspect(test.extension, test.hash, test.data)
			registrytest.Refusal(t, err)
		})
	}
}

func TestInspectRefusesWhatTheGoCommandRefuses(t *testing.T) {
	const p = "a.example/b@v1.0.0/"
	link := &zip.FileHeader{Name: p + "link"}
	link.SetMode(fs.ModeSymlink | 0o777)
	large := &zip.FileHeader{Name: p + "vendor/x/large", UncompressedSize64: 600 << 20, CompressedSize64: 1, Method: zip.Deflate}
	for name, test := range map[string][]*zip.FileHeader{
		"another module's name": {{Name: "a.example/c@v1.0.0/b.go"}},
		"out of the directory":  {{Name: p + "../../x.go"}},
		"an absolute path":      {{Name: p + "/etc/passwd"}},
		"a device of Windows":   {{Name: p + "aux.go"}},
		"one name twice":        {{Name: p + "b.go"}, {Name: p + "b.go"}},
		"two cases":             {{Name: p + "b.go"}, {Name: p + "B.go"}},
		"a capital GO.MOD":      {{Name: p + "GO.MOD"}},
		"a line break":          {{Name: p + "b\n.go"}},
		"a symbolic link":       {link},
		"a bomb":                {large},
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			w := zip.NewWriter(&buf)
			for _, header := range test {
				create := w.CreateHeader
				if header.UncompressedSize64 > 0 {
					create = w.CreateRaw
				}
				if _, err := create(header); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			_, err := inspect("zip", "", buf.Bytes())
			if r := registrytest.Refusal(t, err); r.Reason != registry.ReasonContent {
				t.Errorf("refused with %s: %s", r.Reason, r.Text)
			}
		})
	}
}

// The list of a zip's files is bounded before it is read, and ends where the zip says.
func TestInspectBoundsTheListOfFiles(t *testing.T) {
	const p = "a.example/b@v1.0.0/"
	listed := func(files, length int) []byte {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		for i := range files {
			name := fmt.Sprintf("%s%06d", p, i)
			if _, err := w.CreateRaw(&zip.FileHeader{Name: name + strings.Repeat("x", length-len(name))}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	few, many := listed(3, 100), listed(66_000, 60) // which has a record of another form
	small := bytes.Clone(few)
	small[len(small)-10]-- // the length
	small[len(small)-6]++  // the start
	shorter := bytes.Clone(few)
	shorter[len(shorter)-10]--
	other := bytes.Clone(many)
	other[len(other)-22-20-56+40]--
	for name, test := range map[string]struct {
		data []byte
		says string // empty: it is accepted
	}{
		"a few":                     {few, ""},
		"many":                      {many, ""},
		"too many":                  {listed(66_000, 240), "too many files"},
		"the list begins later":     {small, "cannot be"}, // the library's word
		"the list is longer":        {shorter, "too many files"},
		"the list of many, as well": {other, "too many files"},
		"something behind":          {append(bytes.Clone(few), 0), "too many files"},
		"no end":                    {few[:10], "too many files"},
		"nothing":                   {nil, "too many files"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := inspect("zip", "", test.data); (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestPins(t *testing.T) {
	sum := "a.example/b v1.0.0 h1:x=\na.example/b v1.0.0/go.mod h1:y=\na.example/c v0.1.0/go.mod h1:z=\nbroken\nA v1 h1:x=\na.example/b main h1:x=\n"
	want := []registry.Pin{{Name: "a.example/b", Version: "v1.0.0"}, {Name: "a.example/c", Version: "v0.1.0"}}
	if diff := cmp.Diff(want, (&Ecosystem{}).Pins("go.sum", []byte(sum))); diff != "" {
		t.Error(diff)
	}
	if pins := (&Ecosystem{}).Pins("go.mod", []byte(sum)); pins != nil {
		t.Errorf("go.mod pins %v", pins)
	}
}

func FuzzInspect(f *testing.F) {
	f.Add("zip", zipOf(f, "a.example/b@v1.0.0/", map[string]string{"go.mod": "module a.example/b\n"}))
	f.Add("info", []byte(`{"Version":"v1.0.0","Time":"2020-01-02T03:04:05Z"}`))
	f.Add("mod", []byte("module a.example/b\n"))
	f.Fuzz(func(t *testing.T, extension string, data []byte) {
		if _, err := inspect(extension, "", data); err != nil {
			registrytest.Refusal(t, err)
		}
		if extension == "info" {
			return
		}
		// Nothing that the fuzzer finds has this hash.
		if _, err := inspect(extension, "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", data); err == nil {
			t.Error("passes with another hash")
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add([]byte("v1.0.0\nv1.0.0\nv2.0.0\nv1.2.0-rc.1\nx\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := readList("a.example/b", data)
		if err != nil {
			registrytest.Refusal(t, err)
		}
		seen := map[string]bool{}
		for _, line := range lines {
			if seen[line] || !canonical("a.example/b", line) {
				t.Errorf("%q is no version, or there twice", line)
			}
			seen[line] = true
		}
	})
}

func FuzzPins(f *testing.F) {
	f.Add([]byte("a.example/b v1.0.0 h1:x=\na.example/b v1.0.0/go.mod h1:y=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pin := range (&Ecosystem{}).Pins("go.sum", data) {
			if !canonical(pin.Name, pin.Version) {
				t.Errorf("%v is no version of a module", pin)
			}
		}
	})
}
