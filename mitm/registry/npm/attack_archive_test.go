package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	quiet  = `{"name":"left","version":"1.0.0"}`
	runner = `{"name":"left","version":"1.0.0","scripts":{"postinstall":"node x.js"}}`
)

// file is one entry of a tarball.
type file struct{ name, data string }

func pack(t *testing.T, files []file) []byte {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func look(t *testing.T, files []file) (*registry.Inspection, error) {
	t.Helper()
	data := pack(t, files)
	return Ecosystem{}.Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(data), int64(len(data)))
}

// Clients take the first part off a name before they clean the rest, so a second package.json
// can hide behind a first part that cleaning would take away.
func TestSecondManifest(t *testing.T) {
	for _, name := range []string{
		"package/package.json", "other/package.json", "package/PACKAGE.JSON", "package//package.json",
		"package/./package.json", "package/x/../package.json", "./package.json", "/package.json",
		"//package.json", "./package/package.json", "x/../package.json", "../package.json",
	} {
		t.Run(name, func(t *testing.T) {
			if found, err := look(t, []file{{"package/package.json", quiet}, {name, runner}}); err == nil {
				t.Errorf("a second package.json is let in: %+v", found)
			}
		})
	}
}

// Some clients go on behind the end of an archive, and find a second one there.
func TestSecondArchive(t *testing.T) {
	first, second := unzip(t, pack(t, []file{{"package/package.json", quiet}})), unzip(t, pack(t, []file{{"package/package.json", runner}}))
	padded := append(bytes.Clone(first), make([]byte, 10<<10)...)
	for name, c := range map[string]struct {
		data   []byte
		honest bool
	}{
		"nothing after": {first, true},
		"padding":       {padded, true},
		"an archive":    {append(bytes.Clone(first), second...), false},
		"after padding": {append(bytes.Clone(padded), second...), false},
	} {
		t.Run(name, func(t *testing.T) {
			data := zip(t, c.data)
			_, err := Ecosystem{}.Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(data), int64(len(data)))
			if (err == nil) != c.honest {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a second stream", func(t *testing.T) {
		data := append(zip(t, first), zip(t, second)...)
		if _, err := (Ecosystem{}).Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(data), int64(len(data))); err == nil {
			t.Error("a second archive is let in")
		}
	})
}

func zip(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A binding.gyp runs node-gyp, under whichever name a client unpacks it.
func TestHiddenBinding(t *testing.T) {
	for _, name := range []string{"package/binding.gyp", "./binding.gyp", "/binding.gyp", "x/../binding.gyp"} {
		t.Run(name, func(t *testing.T) {
			found, err := look(t, []file{{"package/package.json", quiet}, {name, "{}"}})
			if err == nil && len(found.Scripts) == 0 {
				t.Error("what it runs at install is not seen")
			}
		})
	}
}

func TestHonestTarballs(t *testing.T) {
	for name, files := range map[string][]file{
		"plain":        {{"package/package.json", runner}, {"package/x.js", ""}},
		"other folder": {{"left-1.0.0/package.json", runner}, {"left-1.0.0/lib/package.json", quiet}},
		"with a dot":   {{"./package/package.json", runner}, {"./package/x.js", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := look(t, files)
			if err != nil || !slices.Equal(found.Scripts, []string{"postinstall: node x.js"}) {
				t.Errorf("%+v %v", found, err)
			}
		})
	}
}

// Some clients take the names or sizes of all files from one header, so that they see other files
// than those that were looked at. A comment, as Git writes it, is harmless.
func TestHeaderForAllFiles(t *testing.T) {
	for key, lets := range map[string]bool{"comment": true, "size": false, "path": false, "GNU.sparse.name": false} {
		t.Run(key, func(t *testing.T) {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			entries := tar.NewWriter(zip)
			for _, h := range []*tar.Header{
				{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{key: "1"}},
				{Name: "package/package.json", Mode: 0o644, Size: int64(len(quiet))},
			} {
				if err := entries.WriteHeader(h); err != nil {
					t.Fatal(err)
				}
			}
			_, err := io.WriteString(entries, quiet)
			if err = errors.Join(err, entries.Close(), zip.Close()); err != nil {
				t.Fatal(err)
			}
			_, err = Ecosystem{}.Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(packed.Bytes()), int64(packed.Len()))
			if (err == nil) != lets {
				t.Errorf("let in: %v", err)
			}
		})
	}
}

// In a head of another version than the standard's, some clients see no directory in front of the
// name, so that a second package.json would hide there.
func TestHeadsWithTwoNames(t *testing.T) {
	for version, lets := range map[string]bool{"00": true, "01": false} {
		var raw, packed bytes.Buffer
		entries := tar.NewWriter(&raw)
		for name, text := range map[string]string{"package/package.json": quiet, "package/other/package.json": runner} {
			if err := entries.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(entries, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := entries.Close(); err != nil {
			t.Fatal(err)
		}
		head := raw.Bytes()[bytes.Index(raw.Bytes(), []byte("package/other")):][:512]
		clear(head[:100])
		copy(head, "package/package.json")
		copy(head[263:], version)
		copy(head[345:], "package/other")
		copy(head[148:], "        ")
		sum := 0
		for _, b := range head {
			sum += int(b)
		}
		copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
		zip := gzip.NewWriter(&packed)
		if _, err := zip.Write(raw.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := Ecosystem{}.Inspect(&registry.Facts{Name: "left"}, &registry.Version{Version: "1.0.0"}, nil, bytes.NewReader(packed.Bytes()), int64(packed.Len()))
		if (err == nil) != lets {
			t.Errorf("version %s: %v", version, err)
		}
	}
}

// What packages that come inside of another one run at install is told as well.
func TestBundledPackages(t *testing.T) {
	for name, c := range map[string]struct {
		file file
		want []string
	}{
		"a script":      {file{"package/node_modules/x/package.json", runner}, []string{"node_modules/x/ postinstall: node x.js"}},
		"of a scope":    {file{"package/node_modules/@s/x/package.json", runner}, []string{"node_modules/@s/x/ postinstall: node x.js"}},
		"deeper":        {file{"package/node_modules/a/node_modules/x/package.json", runner}, []string{"node_modules/a/node_modules/x/ postinstall: node x.js"}},
		"a binding.gyp": {file{"package/node_modules/x/binding.gyp", "{}"}, []string{"node_modules/x/ install: node-gyp rebuild, unless its package.json says otherwise"}},
		"unreadable":    {file{"package/node_modules/x/package.json", `{"scripts":{},"scripts":{}}`}, []string{"node_modules/x/ scripts unknown: its package.json cannot be read"}},
		"quiet":         {file{"package/node_modules/x/package.json", quiet}, nil},
		"no package":    {file{"package/test/package.json", runner}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := look(t, []file{{"package/package.json", quiet}, c.file})
			if err != nil || !slices.Equal(found.Scripts, c.want) {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// What is kept of a small tarball is small, though it unpacks to long names and long scripts.
func TestMuchToTell(t *testing.T) {
	long := fmt.Sprintf(`{"name":"left","version":"1.0.0","scripts":{"postinstall":%q}}`, strings.Repeat("x", 100<<10))
	files := []file{{"package/package.json", long}}
	for i := range 20 {
		files = append(files, file{fmt.Sprintf("package/node_modules/n%d/package.json", i), long})
		files = append(files, file{fmt.Sprintf("package/%s/%d.js", strings.Repeat("y", 4000), i), ""})
	}
	found, err := look(t, files)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Scripts) != 21 || len(found.Files) != 41 {
		t.Errorf("%d scripts, %d files", len(found.Scripts), len(found.Files))
	}
	if n := len(strings.Join(append(found.Scripts, found.Files...), "")); n > 100<<10 {
		t.Errorf("%d bytes are kept", n)
	}
	if _, err := look(t, append(files, file{"package/" + strings.Repeat("y", 5000), ""})); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a name of 5000 bytes: %v", err)
	}
}
