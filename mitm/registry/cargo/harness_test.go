package cargo

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
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

// crates is a registry with its archives at a host of their own.
func crates(t testing.TB) *registry.Origin {
	t.Helper()
	return &registry.Origin{
		Ecosystem: "cargo", URL: address(t, "https://index.example/"),
		Artifacts: []*url.URL{address(t, "https://static.example/crates/")},
	}
}

// upstream is a registry: documents by path.
type upstream map[string]string

func (u upstream) Document(_ context.Context, o *registry.Origin, path, _ string) (*registry.Document, error) {
	text, there := u[path]
	if !there {
		return nil, registry.ErrNotFound
	}
	where := *o.URL
	where.Path += path
	return &registry.Document{URL: &where, Type: "text/plain", Data: []byte(text)}, nil
}

// ask makes a request and returns what is written, without the hidden versions.
func ask(t testing.TB, u upstream, base, path string, hidden ...string) (string, *registry.Facts, error) {
	t.Helper()
	var e Ecosystem
	o := crates(t)
	a, err := e.Parse(o, &registry.Request{Method: "GET", Base: address(t, base), Path: path})
	if err != nil {
		return "", nil, err
	}
	facts, err := e.Facts(t.Context(), u, o, a)
	if err != nil || a.Kind == registry.Artifact {
		return "", facts, err
	}
	var out bytes.Buffer
	err = e.Write(&out, facts, a, func(v string) bool { return slices.Contains(hidden, v) })
	return out.String(), facts, err
}

const (
	plainConfig = `{"dl":"https://static.example/crates","api":"https://api.example"}`
	sha         = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
)

// line is a version as indexes have it.
func line(name, version, more string) string {
	return fmt.Sprintf(`{"name":%q,"vers":%q,"deps":[],"cksum":%q,"features":{},"yanked":false%s}`, name, version, sha, more)
}

// packed packs names and contents as a crate.
func packed(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Name: pairs[i], Typeflag: tar.TypeReg, Size: int64(len(pairs[i+1])), Mode: 0o644}
		content := pairs[i+1]
		if target, link := strings.CutPrefix(content, "-> "); link {
			h.Typeflag, h.Linkname, h.Size, content = tar.TypeSymlink, target, 0, ""
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write([]byte(content))
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

// Admit lets every version pass.
func (upstream) Admit(context.Context, *registry.Origin, registry.Pin, func() (bool, error)) error {
	return nil
}
