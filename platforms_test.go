package ironcurtainmux_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// Each platform is seen, modelled or unknown, and the tests that stand in for it are there.
func TestPlatformsAreKnownByTests(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range []string{"Engines", "macOS"} {
		for _, row := range table(t, "docs/platforms.md", heading) {
			known := strings.TrimSpace(row[1])
			if !slices.Contains([]string{"seen", "modelled", "unknown"}, known) {
				t.Errorf("%s is %q", row[0], known)
			}
			by := names(row[2])
			if known == "modelled" && len(by) == 0 {
				t.Errorf("%s is modelled by nothing", row[0])
			}
			for _, name := range by {
				if strings.HasPrefix(name, "Test") && !there[name] {
					t.Errorf("%s is known by %s, which is not there", row[0], name)
				}
			}
		}
	}
}
