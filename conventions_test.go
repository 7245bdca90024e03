package ironcurtainmux_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every convention is held by a test that exists.
func TestConventionsAreHeld(t *testing.T) {
	tests := map[string]bool{}
	begin := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, name := range trackedFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range begin.FindAllSubmatch(text, -1) {
			tests[string(m[1])] = true
		}
	}
	rows := table(t, "docs/conventions.md", "Conventions")
	if len(rows) < 40 {
		t.Errorf("there are %d conventions, fewer than 40", len(rows))
	}
	for _, row := range rows {
		t.Run(strings.TrimSpace(row[0]), func(t *testing.T) {
			held := names(row[len(row)-1])
			if len(held) == 0 {
				t.Error("no test is named")
			}
			for _, name := range held {
				if !tests[name] {
					t.Errorf("there is no %s", name)
				}
			}
		})
	}
}
