package dpkg

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// handmade makes a package of these files, which dpkg-deb would refuse to make, and returns its path.
func handmade(t *testing.T, name string, files ...tar.Header) string {
	t.Helper()
	pack := func(files ...tar.Header) string {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, h := range files {
			content := h.Linkname
			if h.Mode = 0o755; h.Typeflag == tar.TypeReg {
				h.Size, h.Linkname = int64(len(content)), ""
			}
			err := w.WriteHeader(&h)
			if err == nil && h.Typeflag == tar.TypeReg {
				_, err = w.Write([]byte(content))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	control := fmt.Sprintf("Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: Forger <forger@repo.example>\nDescription: x\n", name)
	deb := "!<arch>\n"
	for _, m := range [][2]string{{"debian-binary", "2.0\n"}, {"control.tar", pack(file("./control", control))}, {"data.tar", pack(files...)}} {
		deb += fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", m[0], 0, 0, 0, "100644", len(m[1]), m[1])
	}
	path := filepath.Join(t.TempDir(), "handmade.deb")
	if err := os.WriteFile(path, []byte(deb), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func file(name, text string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Linkname: text}
}

func link(to string) tar.Header {
	return tar.Header{Name: "./a", Typeflag: tar.TypeSymlink, Linkname: to}
}

// No package writes outside the root: not by its names, not by its links, and not by the links of
// another package.
func TestNothingIsWrittenOutside(t *testing.T) {
	dir := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeDir} }
	for name, c := range map[string]struct {
		before, then []tar.Header // OUT becomes the place outside
		ok           bool
	}{
		"up":                          {nil, []tar.Header{file("../../out/x", "evil")}, false},
		"up behind a name":            {nil, []tar.Header{file("./usr/../../../out/x", "evil")}, false},
		"its own link":                {nil, []tar.Header{link("OUT"), file("./a/x", "evil")}, false},
		"its own link upwards":        {nil, []tar.Header{link("../../out"), file("./a/x", "evil")}, false},
		"another's link":              {[]tar.Header{link("OUT")}, []tar.Header{file("./a/x", "evil")}, false},
		"another's link upwards":      {[]tar.Header{link("../../out")}, []tar.Header{file("./a/x", "evil")}, false},
		"another's link, deeper":      {[]tar.Header{link("OUT")}, []tar.Header{file("./a/b/c/x", "evil")}, false},
		"the directory comes later":   {[]tar.Header{link("OUT")}, []tar.Header{file("./a/x", "evil"), dir("./a/")}, false},
		"a hard link behind a link":   {[]tar.Header{link("OUT")}, []tar.Header{{Name: "./x", Typeflag: tar.TypeLink, Linkname: "./a/kept"}}, false},
		"a name in another record":    {[]tar.Header{link("OUT")}, []tar.Header{{Name: "./b", Format: tar.FormatPAX, Typeflag: tar.TypeReg, PAXRecords: map[string]string{"comment": "x"}}}, false},
		"a directory for a link":      {[]tar.Header{link("OUT")}, []tar.Header{dir("./a/"), file("./a/x", "good")}, true},
		"a file for a link":           {[]tar.Header{link("OUT/kept")}, []tar.Header{file("./a", "good")}, true},
		"a link that stays inside":    {[]tar.Header{dir("./lib/"), link("lib")}, []tar.Header{file("./a/x", "good")}, true},
		"a link that leads nowhere":   {[]tar.Header{link("OUT/none")}, []tar.Header{file("./b", "good")}, true},
		"a hard link in the package":  {nil, []tar.Header{file("./a", "good"), {Name: "./b", Typeflag: tar.TypeLink, Linkname: "./a"}}, true},
		"a link over another's files": {[]tar.Header{dir("./a/"), file("./a/x", "good")}, []tar.Header{link("OUT"), file("./a/x", "evil")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoot(t)
			r.Dir = filepath.Join(r.Dir, "home")
			out := filepath.Join(filepath.Dir(r.Dir), "out")
			if err := os.MkdirAll(out, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(out, "kept"), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			for i, files := range [][]tar.Header{c.before, c.then} {
				for j := range files {
					if files[j].Typeflag == tar.TypeSymlink {
						files[j].Linkname = strings.Replace(files[j].Linkname, "OUT", out, 1)
					}
				}
				said, err := r.command(t, "--unpack", handmade(t, fmt.Sprint("p", i), files...))
				if i == 0 && err != nil || i == 1 && (err == nil) != c.ok {
					t.Errorf("%d: %v: %s", i, err, said)
				}
			}
			found, err := os.ReadDir(out)
			if err != nil || len(found) != 1 || r.read(t, filepath.Join(out, "kept")) != "mine" {
				t.Errorf("outside are %v, %v", found, err)
			}
		})
	}
}
