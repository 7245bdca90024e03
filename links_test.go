package ironcurtainmux_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// link is a link of Markdown, with a file of this repository, a heading, or both.
	link = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	// heading is a heading of Markdown.
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// notInAnchor is what the anchor of a heading leaves out.
	notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors returns the anchors of a document's headings.
func anchors(document string) map[string]bool {
	all := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(document, -1) {
		all[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return all
}

// The files and folders that CONTRIBUTING.md says to read exist. A file without a folder is in the
// folder that its row has named before.
func TestFilesToReadExist(t *testing.T) {
	for _, row := range table(t, "CONTRIBUTING.md", "Where to begin reading") {
		t.Run(strings.TrimSpace(row[0]), func(t *testing.T) {
			folder := "."
			for _, name := range names(row[1]) {
				path := name
				if !strings.Contains(name, "/") {
					path = filepath.Join(folder, name)
				}
				info, err := os.Stat(path)
				switch {
				case err == nil && info.IsDir():
					folder = path
				case err == nil:
					folder = filepath.Dir(path)
				case strings.ContainsAny(name, "/."):
					t.Error(err)
				}
			}
		})
	}
}

// Links in the documents lead to files and headings that exist.
func TestLinks(t *testing.T) {
	documents, _ := filepath.Glob("*.md")
	more, _ := filepath.Glob("docs/*.md")
	for _, name := range append(documents, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range link.FindAllStringSubmatch(string(text), -1) {
			target := name
			if l[1] != "" {
				target = filepath.Join(filepath.Dir(name), l[1])
			}
			there, err := os.ReadFile(target)
			if info, _ := os.Stat(target); info != nil && info.IsDir() && l[2] == "" {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if l[2] != "" && !anchors(string(there))[l[2]] {
				t.Errorf("%s: %s has no heading for #%s", name, target, l[2])
			}
		}
	}
}
