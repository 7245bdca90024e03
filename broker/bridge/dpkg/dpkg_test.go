package dpkg

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

const image = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36
Description: the library
 of all
 .
Depends: libgcc-s1

Package: gone
Status: deinstall ok config-files
Version: 1
`

func newRoot(t *testing.T) Root {
	t.Helper()
	r := Root{Image: filepath.Join(t.TempDir(), "status"), Dir: t.TempDir()}
	if err := os.WriteFile(r.Image, []byte(image), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(); err != nil {
		t.Fatal(err)
	}
	return r
}

// archive makes a package with dpkg-deb and returns its path.
func archive(t *testing.T, name, version string, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".deb")
	if err := os.WriteFile(path, forged.Deb(t, name, version, "xz", files), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// command returns what is printed, and the error.
func (r Root) command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := r.Command(t.Context(), args, strings.NewReader(""), &out)
	return out.String(), err
}

func (r Root) read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

const heldImage = `Package: libc6
Status: hold ok installed
Architecture: amd64
Version: 2.36
Description: the library
 of all
 .
Depends: libgcc-s1

Package: gone
Status: deinstall ok config-files
Version: 1

`

const hello = `Package: hello
Status: install ok installed
Version: VERSION
Architecture: amd64
Maintainer: Forger <forger@repo.example>
Description: forged
 of nothing

`

func TestPackagesComeAreReplacedAndGo(t *testing.T) {
	r := newRoot(t)
	if diff := cmp.Diff(heldImage, r.read(t, r.status())); diff != "" {
		t.Error(diff)
	}
	progress, err := os.Create(filepath.Join(t.TempDir(), "progress"))
	if err != nil {
		t.Fatal(err)
	}
	defer progress.Close()
	first := archive(t, "hello", "1.0", map[string]string{"usr/bin/hello": "one", "usr/share/old name/only": "old", "DEBIAN/postinst": "#!/bin/sh\nexit 1\n"})
	descriptor, err := unix.Dup(int(progress.Fd())) // which belongs to the command
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.command(t, "--status-fd", strconv.Itoa(descriptor), "--no-triggers", "--unpack", "--auto-deconfigure", "--recursive", filepath.Dir(first))
	if err != nil || !strings.Contains(out, "Unpacked hello (1.0)") || !strings.Contains(out, "scripts do not run") {
		t.Fatalf("%v: %s", err, out)
	}
	if diff := cmp.Diff(heldImage+strings.ReplaceAll(hello, "VERSION", "1.0"), r.read(t, r.status())); diff != "" {
		t.Error(diff)
	}
	if got := r.read(t, progress.Name()); !strings.HasPrefix(got, "status: hello:amd64: half-installed\n") || !strings.HasSuffix(got, "\nstatus: hello:amd64: installed\n") {
		t.Errorf("apt is told %q", got)
	}
	program := filepath.Join(r.Dir, "root/usr/bin/hello")
	if got := r.read(t, program); got != "one" {
		t.Errorf("the program is %q", got)
	}
	if _, err := r.command(t, "--unpack", archive(t, "hello", "2.0", map[string]string{"usr/bin/hello": "two"})); err != nil {
		t.Fatal(err)
	}
	if got := r.read(t, program); got != "two" {
		t.Errorf("the new program is %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "root/usr/share")); !os.IsNotExist(err) {
		t.Errorf("what only the old version had is still there: %v", err)
	}
	if diff := cmp.Diff(heldImage+strings.ReplaceAll(hello, "VERSION", "2.0"), r.read(t, r.status())); diff != "" {
		t.Error(diff)
	}
	// As apt removes packages: it selects them, and then has them removed.
	if err := r.Command(t.Context(), []string{"--set-selections"}, strings.NewReader("hello:amd64\tdeinstall\nlibc6\tpurge\n"), io.Discard); err != nil {
		t.Fatal(err)
	}
	if out, err := r.command(t, "--force-depends", "--remove", "--pending"); err != nil || !strings.Contains(out, "Removed hello") {
		t.Errorf("%v: %s", err, out)
	}
	if diff := cmp.Diff(heldImage, r.read(t, r.status())); diff != "" || r.read(t, program) != "" {
		t.Error(diff)
	}
}

func TestWhatItRefuses(t *testing.T) {
	r := newRoot(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a package of the image":    {[]string{"--unpack", archive(t, "libc6", "2.37", nil)}, "libc6 belongs to the image"},
		"removing one":              {[]string{"--remove", "libc6"}, "libc6 belongs to the image"},
		"what is no package":        {[]string{"--unpack", r.Image}, "unpack status: dpkg-deb --field"},
		"two paragraphs":            {[]string{"--unpack", handmade(t, "a\nVersion: 1\n\nPackage: other\nStatus: install ok installed")}, "describe one package"},
		"a blank paragraph":         {[]string{"--unpack", handmade(t, "a\n \nPackage: other")}, "describe one package"},
		"two names":                 {[]string{"--unpack", handmade(t, "a\npackage: other")}, "describe one package"},
		"a name with a slash":       {[]string{"--unpack", handmade(t, "../a")}, "describe one package"},
		"another action":            {[]string{"--audit"}, "replacement of dpkg"},
		"an option without a value": {[]string{"--status-fd"}, "needs a value"},
		"no descriptor":             {[]string{"--status-fd", "x", "--configure"}, "is not a file descriptor"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := r.command(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if diff := cmp.Diff(heldImage, r.read(t, r.status())); diff != "" {
		t.Error(diff)
	}
	// What apt calls before and after.
	for _, args := range [][]string{{"--print-foreign-architectures"}, {"--assert-multi-arch"}, {"--configure", "--pending"}, {"--triggers-only", "--pending"}} {
		if out, err := r.command(t, args...); out != "" || err != nil {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}

// An unpacked package that a new image contains counts as the image's.
func TestTheImageChanges(t *testing.T) {
	r := newRoot(t)
	if _, err := r.command(t, "--unpack", archive(t, "hello", "1.0", map[string]string{"usr/bin/hello": "one"})); err != nil {
		t.Fatal(err)
	}
	const changed = "Package: libc6\nStatus: install ok installed\nVersion: 2.41\n\nPackage: hello\nStatus: install ok installed\nVersion: 2.0\n"
	if err := os.WriteFile(r.Image, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Prepare(); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(changed, "install ok", "hold ok") + "\n"
	if diff := cmp.Diff(want, r.read(t, r.status())); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	r := Root{Dir: "/home/x/.apt"}
	got := r.Environment([]string{"A=1", "PATH=/bin", "LD_LIBRARY_PATH=/own"})
	if !strings.HasPrefix(got[1], "PATH=/bin:/home/x/.apt/root/usr/local/bin:/home/x/.apt/root/usr/bin:") || !strings.HasPrefix(got[2], "LD_LIBRARY_PATH=/own:/home/x/.apt/root/usr/lib/") || len(got) != 3 {
		t.Errorf("got %q", got)
	}
	if got := r.Environment(nil); len(got) != 2 || !strings.HasPrefix(got[0], "PATH=/home/x/") {
		t.Errorf("of an empty one: %q", got)
	}
}
