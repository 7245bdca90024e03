package pathx

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Resolve is View.Resolve with a view of its own.
func (r *Resolver) Resolve(value string) (Resolved, error) {
	return r.View(context.Background()).Resolve(value)
}

func TestCheck(t *testing.T) {
	for p, ok := range map[string]bool{
		"a": true, "a/b": true, "/a": true, "~": true, "~/x": true, "..": true, "a b": true, "a$b": true, "$": true, "a/$slug.tsx": true,
		"A$Inner.class": true, "100%": true, "%41": true, "a:b/c": false, "x/a:b": true, "-rf": true, "a*b?[c]": true, "漢字": true,
		"": false, " a": false, "a ": false, "\u00a0a": false, "~root": false, "~+": false, "file:///a": false, "C:/x": false, "c:": false,
		"a\\b": false, "a\x00b": false, "a\nb": false, "a\x7fb": false, "a\u0085b": false, "a\u202eb": false, "a\xffb": false,
		"$HOME": false, "$home/x": false, "a/${X}": false, "a/$(x)": false, "a/$HOME/b": false, "%APPDATA%/x": false, "a\u200bb": false,
		strings.Repeat("a", 256): false, strings.Repeat("a/", 2100): false, "a\u2028b": false, "a\U000e0041": false,
	} {
		t.Run(p, func(t *testing.T) {
			if err := Check(p); (err == nil) != ok {
				t.Errorf("%q: %v", p, err)
			}
		})
	}
}

func TestUnderMount(t *testing.T) {
	for _, tc := range []struct {
		value, mount, rest string
		ok                 bool
	}{
		{"/workspace", "/workspace", "", true},
		{"/workspace/a", "/workspace", "a", true},
		{"//workspace//a", "/workspace", "/a", true},
		{"/./workspace/./a", "/workspace", "./a", true},
		{"/../workspace/a", "/workspace", "a", true},
		{"/mnt/./ws/a", "/mnt/ws", "a", true},
		{"/mnt/../ws/a", "/mnt/ws", "", false},
		{"/workspaces/a", "/workspace", "", false},
		{"/work", "/workspace", "", false},
		{"/", "/workspace", "", false},
		{"/workspace", "", "", false},
	} {
		t.Run(tc.value, func(t *testing.T) {
			rest, ok := underMount(tc.value, tc.mount)
			if rest != tc.rest || ok != tc.ok {
				t.Errorf("%q in %q: %q %v", tc.value, tc.mount, rest, ok)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		p, dir string
		want   bool
	}{
		{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/", "/", true}, {"/a", "/", true}, {"/a", "/a/b", false},
	} {
		t.Run(tc.p, func(t *testing.T) {
			if got := Within(tc.p, tc.dir); got != tc.want {
				t.Errorf("%q within %q: %v", tc.p, tc.dir, got)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New("relative", "", ""); err == nil {
		t.Error("a relative base is accepted")
	}
	for _, mount := range []string{"/", "workspace", "//"} {
		t.Run(mount, func(t *testing.T) {
			if _, err := New(t.TempDir(), "", mount); err == nil {
				t.Errorf("mount %q is accepted", mount)
			}
		})
	}
	var zero Resolver
	for _, p := range []string{"a", "~/a"} {
		t.Run(p, func(t *testing.T) {
			if _, err := zero.Resolve(p); err == nil {
				t.Errorf("%q resolves without a base", p)
			}
		})
	}
	if got, err := zero.Resolve("/"); err != nil || got.Path != "/" {
		t.Errorf("root: %v %v", got, err)
	}
}

func FuzzResolve(f *testing.F) {
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for name, target := range map[string]string{"out": "/", "up": "..", "in": "dir", "loop": "loop", "gone": "/nowhere/x", "proc": "/proc/self"} {
		if err := os.Symlink(target, root+"/"+name); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Mkdir(root+"/dir", 0o700); err != nil {
		f.Fatal(err)
	}
	r, err := New(root, "/home/nobody", "/workspace")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"a", "/workspace/in/../out", "up/x", "gone", "//workspace/./dir", "~/x", "proc/root", "in/..//dir/.", "loop"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, err := r.Resolve(value)
		if err != nil {
			return
		}
		if got.Path != filepath.Clean(got.Path) || !filepath.IsAbs(got.Path) {
			t.Fatalf("%q gives %q", value, got.Path)
		}
		again, err := r.Resolve(got.Path)
		if Check(got.Path) == nil && (err != nil || again.Path != got.Path) {
			t.Fatalf("%q gives %q, again %q (%v)", value, got.Path, again.Path, err)
		}
	})
}

func BenchmarkResolveSixParts(b *testing.B) {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll(root+"/a/b/c/d/e", 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(root+"/a/b/c/d/e/f", nil, 0o600); err != nil {
		b.Fatal(err)
	}
	r, err := New(root, "", "/workspace")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Resolve("/workspace/a/b/c/d/e/f"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBaseBelowTheMountsName has a base whose host path lies below the mount point's path.
func TestBaseBelowTheMountsName(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root+"/ws/project", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root+"/ws/elsewhere", root+"/ws/project/link"); err != nil {
		t.Fatal(err)
	}
	r, err := New(root+"/ws/project", "", root+"/ws")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		root + "/ws/a":         root + "/ws/project/a",
		root + "/ws/project/a": root + "/ws/project/a",
		"a":                    root + "/ws/project/a",
		"link":                 "",
		root + "/ws/../x":      "",
	} {
		t.Run(in, func(t *testing.T) {
			got, err := r.Resolve(in)
			if got.Path != want || (err == nil) != (want != "") {
				t.Errorf("%s: %q %v, want %q", in, got.Path, err, want)
			}
		})
	}
}
