package pathx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// kernelPath asks the kernel which file it opens. It uses none of this package's code.
func kernelPath(name string, flags int) (string, error) {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// TestAgreesWithTheKernel builds random trees with random links, and compares Resolve with
// the files that the kernel opens or creates.
func TestAgreesWithTheKernel(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		root := fmt.Sprintf("%s/%d", base, round)
		grow(t, root)
		r, err := New(root, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			compare(t, r, root, drawPath(t, root, 6))
		}
	})
}

var names = []string{"a", "b", "c", "d"}

// grow makes directories, files and links below root.
func grow(t *rapid.T, root string) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(3, 14).Draw(t, "entries") {
		name := root
		for range rapid.IntRange(1, 3).Draw(t, "depth") {
			name += "/" + rapid.SampledFrom(names).Draw(t, "name")
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			_ = os.MkdirAll(name, 0o700)
		case 1:
			_ = os.WriteFile(name, nil, 0o600)
		default:
			_ = os.Symlink(drawPath(t, root, 4), name)
		}
	}
}

// drawPath makes a path with "..", "." and doubled slashes in it, absolute
// below root or relative.
func drawPath(t *rapid.T, root string, most int) string {
	parts := rapid.SliceOfN(rapid.SampledFrom(append([]string{"..", ".", ""}, names...)), 1, most).Draw(t, "parts")
	p := strings.Join(parts, "/")
	if rapid.Bool().Draw(t, "absolute") {
		return root + "/" + p
	}
	if p = strings.TrimLeft(p, "/"); p == "" {
		return "."
	}
	return p
}

func compare(t *rapid.T, r *Resolver, root, p string) {
	full := p
	if !strings.HasPrefix(p, "/") {
		full = root + "/" + p
	}
	got, refused := r.Resolve(p)
	want, err := kernelPath(full, unix.O_PATH)
	if err == nil {
		if refused != nil {
			t.Fatalf("%q: refused (%v), the kernel opens %q", p, refused, want)
		}
		if got.Path != want || !got.Exists {
			t.Fatalf("%q: %q (exists %v), the kernel opens %q", p, got.Path, got.Exists, want)
		}
		var st unix.Stat_t
		if want != "/" && (unix.Lstat(want, &st) != nil || identOf(&st) != got.Ident) {
			t.Fatalf("%q: identity %v, the kernel has %v", p, got.Ident, identOf(&st))
		}
		return
	}
	if errors.Is(err, unix.ENOTDIR) && refused == nil && !isDir(got.Path) {
		return // a link on the way ends in a slash: Resolve returns the file, the kernel opens nothing
	}
	if refused == nil && got.Exists && !strings.HasSuffix(p, "/") && !strings.HasSuffix(p, "/.") {
		t.Fatalf("%q: %q exists, the kernel finds nothing", p, got.Path)
	}
	// The path does not exist: the kernel must create the file that Resolve returned.
	if strings.HasSuffix(p, "/") || !strings.HasPrefix(full, root) {
		return
	}
	if want, err = kernelPath(full, unix.O_CREAT|unix.O_WRONLY); err != nil {
		return
	}
	if refused != nil || got.Path != want {
		t.Fatalf("%q: %q (%v), the kernel creates %q", p, got.Path, refused, want)
	}
	if err := os.Remove(want); err != nil {
		t.Fatal(err)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TestCanonicalIsAFixedPoint: a canonical path resolves to itself.
func TestCanonicalIsAFixedPoint(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		root := fmt.Sprintf("%s/%d", base, round)
		grow(t, root)
		r, err := New(root, base, "/workspace")
		if err != nil {
			t.Fatal(err)
		}
		p := drawPath(t, root, 6)
		if rapid.Bool().Draw(t, "mount") && !strings.HasPrefix(p, "/") {
			p = "/workspace/" + p
		}
		first, err := r.Resolve(p)
		if err != nil {
			return
		}
		second, err := r.Resolve(first.Path)
		if err != nil || second.Path != first.Path || second.ViaLink || second.Exists != first.Exists {
			t.Fatalf("%q is %+v, again %+v (%v)", p, first, second, err)
		}
	})
}
