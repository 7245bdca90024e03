package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// An empty file in place of a root file system, as after a power failure, is not used.
func TestAnEmptyArchiveIsMadeAgain(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without mmdebstrap
	o := BuildOptions{CacheDir: t.TempDir()}
	b := &imageBuild{client: &Client{}, options: o, report: newReporter(o, 1)}
	spec := ImageSpec{Name: "base"}
	if err := os.WriteFile(filepath.Join(o.CacheDir, "base-"+rootfsHash(spec, "")+".tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if archive, err := b.bootstrap(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "mmdebstrap is not installed") {
		t.Errorf("got %s, %v", archive, err)
	}
}

func TestALongMessageIsCutBetweenCharacters(t *testing.T) {
	if got := oneLine(strings.Repeat("é", 700) + "x"); !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
	if got := oneLine("x" + strings.Repeat("é", 700)); !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
}
