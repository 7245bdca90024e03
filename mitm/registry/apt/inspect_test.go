package apt

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// inspect looks into bytes that are said to be hello 1.0.
func inspect(data []byte) (*registry.Inspection, error) {
	return New(&memory{}).Inspect(&registry.Facts{Name: "hello"}, &registry.Version{Version: "1.0"},
		&registry.File{URL: "http://repo.example/debian/pool/hello_1.0_amd64.deb"}, bytes.NewReader(data), int64(len(data)))
}

func TestInspectLooksIntoPackages(t *testing.T) {
	files := map[string]string{"usr/bin/hello": "#!/bin/sh\n", "usr/share/doc/hello/copyright": "mine", "DEBIAN/postinst": "#!/bin/sh\ntrue\n", "DEBIAN/prerm": "#!/bin/sh\ntrue\n"}
	for _, compression := range []string{"none", "gzip", "xz", "zstd"} {
		t.Run(compression, func(t *testing.T) {
			found, err := inspect(forged.Deb(t, "hello", "1.0", compression, files))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(found.Scripts)
			want := &registry.Inspection{Scripts: []string{"postinst", "prerm"}}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// arOf is an archive of members, a name and data each.
func arOf(members ...string) []byte {
	out := []byte("!<arch>\n")
	for i := 0; i < len(members); i += 2 {
		out = append(fmt.Appendf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", members[i], 0, 0, 0, "100644", len(members[i+1])), members[i+1]...)
		if len(members[i+1])%2 > 0 {
			out = append(out, '\n')
		}
	}
	return out
}

// tarOf is an archive of files, a name and text each.
func tarOf(t testing.TB, files ...string) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestInspectRefuses(t *testing.T) {
	const self, magic = "Package: hello\nVersion: 1.0\n", "2.0\n"
	none := tarOf(t)
	good := tarOf(t, "./control", self)
	if _, err := inspect(arOf("debian-binary", magic, "control.tar", good, "data.tar", none)); err != nil {
		t.Fatalf("a good one: %v", err)
	}
	for name, data := range map[string][]byte{
		"nothing":          nil,
		"no archive":       []byte("nonsense"),
		"no files":         arOf("debian-binary", magic, "control.tar", good),
		"another order":    arOf("control.tar", good, "debian-binary", magic, "data.tar", none),
		"a size too large": bytes.Replace(arOf("debian-binary", magic, "control.tar", good, "data.tar", none), []byte("4         `"), []byte("99999999  `"), 1),
		"another package":  arOf("debian-binary", magic, "control.tar", tarOf(t, "control", "Package: evil\nVersion: 1.0\n"), "data.tar", none),
		"another version":  arOf("debian-binary", magic, "control.tar", tarOf(t, "control", "Package: hello\nVersion: 1.1\n"), "data.tar", none),
		"said twice":       arOf("debian-binary", magic, "control.tar", tarOf(t, "control", "Package: hello\nVersion: 1.0\npackage: evil\n"), "data.tar", none),
		"two controls":     arOf("debian-binary", magic, "control.tar", tarOf(t, "control", self, "./control", self), "data.tar", none),
		"in pax form":      arOf("debian-binary", magic, "control.tar", tarOf(t, "control", self, "\u00fcber", ""), "data.tar", none),
		"a long control":   arOf("debian-binary", magic, "control.tar", tarOf(t, "control", self+strings.Repeat("X: y\n", 300_000)), "data.tar", none),
		"no control":       arOf("debian-binary", magic, "control.tar", none, "data.tar", none),
		"unknown":          arOf("debian-binary", magic, "control.tar.lzma", good, "data.tar", none),
		"a broken xz":      arOf("debian-binary", magic, "control.tar.xz", good, "data.tar", none),
		"a bomb":           arOf("debian-binary", magic, "control.tar.gz", string(compressed(t, make([]byte, maxControl+1<<20), "gzip")), "data.tar", none),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inspect(data)
			if reasonOf(t, err) != registry.ReasonContent {
				t.Errorf("refused with %s: %v", reasonOf(t, err), err)
			}
			registrytest.Refusal(t, err)
		})
	}
}

func FuzzInspect(f *testing.F) {
	for _, compression := range []string{"none", "gzip", "xz", "zstd"} {
		f.Add(forged.Deb(f, "hello", "1.0", compression, nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := inspect(data); err != nil {
			registrytest.Refusal(t, err)
		}
	})
}
