package ironcurtainmux_test

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// forbidden are strings that no file of the tree may hold. They are put
// together here, so that this file does not hold them either.
var forbidden = []struct{ text, why string }{
	{"proxy." + "golang.org", "names a package registry: the Go tool knows its own"},
	{"sum." + "golang.org", "names a package registry: the Go tool knows its own"},
	{"registry." + "npmjs.org", "names a package registry: npm's configuration knows it"},
	{"registry." + "yarnpkg.com", "names a package registry: yarn knows its own"},
	{"npm.pkg." + "github.com", "names a package registry: npm's configuration knows it"},
	{"py" + "pi.org", "names a package registry: pip knows its own"},
	{"python" + "hosted.org", "names a package registry: its documents know where its files are"},
	{"crates" + ".io", "names a package registry: Cargo knows its own"},
	{"ports." + "ubuntu.com", "names a package mirror: apt's configuration knows it"},
	{"deb." + "debian.org", "names a package mirror: apt's configuration knows it"},
	{"security." + "debian.org", "names a package mirror: apt's configuration knows it"},
	{"archive." + "ubuntu.com", "names a package mirror: apt's configuration knows it"},
	{"/wor" + "k/main", "is a path of one machine"},
	{"/wor" + "k/shared", "is a path of one machine"},
	{"/wor" + "k/steering", "is a path of one machine"},
	{"/wor" + "k/.library", "is a path of one machine"},
	{"/far" + "m/", "is a path of one machine"},
}

// trackedFiles lists the files that git knows of and those that it would add.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		t.Fatal("git ls-files found nothing")
	}
	return files
}

func TestTheTreeSpeaksOfItselfOnly(t *testing.T) {
	for _, name := range trackedFiles(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range forbidden {
			if i := bytes.Index(data, []byte(f.text)); i >= 0 {
				t.Errorf("%s:%d: %q %s", name, 1+bytes.Count(data[:i], []byte("\n")), f.text, f.why)
			}
		}
	}
}

func TestGoFilesAreFormatted(t *testing.T) {
	for _, name := range trackedFiles(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(data, formatted) {
			t.Errorf("%s is not formatted: run 'make fmt'", name)
		}
	}
}
