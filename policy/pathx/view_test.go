package pathx

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// deep makes nested directories, and returns the outermost and the path of the innermost.
func deep(t testing.TB, levels int) (base, path string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = strings.TrimSuffix(strings.Repeat("d/", levels), "/")
	if err := os.MkdirAll(base+"/"+path, 0o700); err != nil {
		t.Fatal(err)
	}
	return base, path
}

func TestAViewLooksUpANameOnce(t *testing.T) {
	base, path := deep(t, 8)
	r, err := New(base, "", "/workspace")
	if err != nil {
		t.Fatal(err)
	}
	v := r.View(t.Context())
	for i := range 100 {
		if got, err := v.Resolve(path + "/new" + strconv.Itoa(i%4)); err != nil || got.Exists {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if len(v.seen) != 8+4 {
		t.Errorf("%d names were looked up", len(v.seen))
	}
	// The old view still sees the old state; a new view sees the current one.
	if err := os.Remove(base + "/" + path); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Resolve(path); err != nil || !got.Exists {
		t.Errorf("the same view: %+v, %v", got, err)
	}
	if got, err := r.Resolve(path); err != nil || got.Exists {
		t.Errorf("another view: %+v, %v", got, err)
	}
}

func TestAPathHasABoundedNumberOfComponents(t *testing.T) {
	base, path := deep(t, maxParts)
	r, err := New(base, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Resolve(path); err != nil || !got.Dir {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.Symlink(path, base+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, long := range []string{path + "/d", "./" + path, "link", strings.Repeat("none/", maxParts) + "x"} {
		t.Run(long, func(t *testing.T) {
			if got, err := r.Resolve(long); err == nil {
				t.Errorf("%.20q leads to %q", long, got.Path)
			}
		})
	}
}

func TestAViewHasABoundAndAnEnd(t *testing.T) {
	base, path := deep(t, 2)
	r, err := New(base, "", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, full := r.View(ctx), r.View(t.Context())
	cancel()
	for i := range maxLookups {
		full.seen[strconv.Itoa(i)] = entry{}
	}
	for name, v := range map[string]*View{"ended": ended, "full": full} {
		t.Run(name, func(t *testing.T) {
			if got, err := v.Resolve(path); err == nil || v.Err() == nil {
				t.Errorf("%s: resolved to %q", name, got.Path)
			}
			if v.Exists(base) {
				t.Errorf("%s: found something", name)
			}
		})
	}
}

// The work is bounded even if a known path is walked again and again, and so is the memory
// for long names.
func TestLongNamesAreBounded(t *testing.T) {
	base, path := deep(t, 200)
	if err := os.Symlink(path, base+"/link"); err != nil {
		t.Fatal(err)
	}
	r, err := New(base, "", "")
	if err != nil {
		t.Fatal(err)
	}
	again, more := r.View(t.Context()), r.View(t.Context())
	n := 0
	for n < 50_000 && again.Err() == nil {
		_, _ = again.Resolve("link")
		n++
	}
	if n < 500 || again.Err() == nil {
		t.Errorf("%d walks of the same path: %v", n, again.Err())
	}
	long := base + "/" + strings.Repeat("x", 4000)
	n = 0
	for n < maxLookups && more.Err() == nil {
		more.Exists(long + strconv.Itoa(n))
		n++
	}
	if n > 5000 || more.Err() == nil {
		t.Errorf("%d long names: %v", n, more.Err())
	}
}

// Many names are missing in a directory of many names with several spellings. The
// directory is read once.
func TestADirectoryIsListedOnceForItsSpellings(t *testing.T) {
	base := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(base+"/"+decomposed+strconv.Itoa(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := New(base, "", "")
	if err != nil {
		t.Fatal(err)
	}
	v := r.View(t.Context())
	for i := range 20 {
		if got, err := v.Resolve(composed + strconv.Itoa(i)); err != nil || !got.Exists {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if v.listed != 20 {
		t.Errorf("%d names were read", v.listed)
	}
	v.listed = maxListed
	if err := os.Mkdir(base+"/more", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(base+"/more/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Resolve("more/" + composed); err == nil {
		t.Errorf("resolved to %q", got.Path)
	}
}
