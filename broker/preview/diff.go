package preview

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// maxDiffLines is how many lines a text may have to be compared line by line.
const maxDiffLines = 50_000

// writeFile returns the effect of writing a file.
func (p *Previewer) writeFile(path, content string) *Effect {
	d := p.newDraft(Diff)
	before, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.needsDirectoryOf(path)
		d.fact("before", "absent")
		d.fact("after", digest([]byte(content)))
		lines := splitLines(content)
		for _, l := range lines {
			d.line(Added, l)
		}
		return d.done("creates %s: %s, %s", path, plural(len(lines), "line"), plural(len(content), "byte"))
	case err != nil:
		d.fact("after", digest([]byte(content)))
		d.fail(err, "the present content cannot be shown")
		if errors.Is(err, errNoFile) {
			d.Fails = err.Error()
		}
		return d.done("replaces %s with %s", path, plural(len(content), "byte"))
	}
	return d.compare(path, before, []byte(content))
}

// needsDirectoryOf sets that the call fails, if the directory of a new file is missing.
func (d *draft) needsDirectoryOf(path string) {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		d.Fails = fmt.Sprintf("the directory %s does not exist", filepath.Dir(path))
	}
}

// compare completes the effect with the difference between two contents of a file.
func (d *draft) compare(path string, before, after []byte) *Effect {
	d.fact("before", digest(before))
	d.fact("after", digest(after))
	if bytes.Equal(before, after) {
		return d.done("changes nothing: %s has this content already", path)
	}
	if d.brief {
		return d.done("")
	}
	if !isText(before) || !isText(after) {
		d.note("before: %s, SHA-256 %s", plural(len(before), "byte"), digest(before))
		d.note("after: %s, SHA-256 %s", plural(len(after), "byte"), digest(after))
		return d.done("replaces %s; it is not text", path)
	}
	old, now := string(before), string(after)
	if strings.Count(old, "\n")+strings.Count(now, "\n") > maxDiffLines {
		d.warn("too many lines to compare: %d before, %d after", strings.Count(old, "\n"), strings.Count(now, "\n"))
		return d.done("replaces %s", path)
	}
	u, err := udiff.ToUnifiedDiff(path, path, old, udiff.Lines(old, now), udiff.DefaultContextLines)
	if err != nil {
		d.fail(err, "the change cannot be shown")
		return d.done("replaces %s", path)
	}
	added, removed := d.hunks(u)
	return d.done("changes %s: %s added, %s removed", path, plural(added, "line"), plural(removed, "line"))
}

// hunks adds the hunks of a diff and counts added and removed lines.
func (d *draft) hunks(u udiff.UnifiedDiff) (added, removed int) {
	for _, h := range u.Hunks {
		from, to := 0, 0
		for _, l := range h.Lines {
			if l.Kind != udiff.Insert {
				from++
			}
			if l.Kind != udiff.Delete {
				to++
			}
		}
		d.add(Hunk, fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, from, h.ToLine, to))
		for _, l := range h.Lines {
			kind := Same
			switch l.Kind {
			case udiff.Insert:
				kind, added = Added, added+1
			case udiff.Delete:
				kind, removed = Removed, removed+1
			case udiff.Equal:
			}
			d.line(kind, l.Content)
		}
	}
	return added, removed
}

// line adds a line of a file, with a note if its line end is missing.
func (d *draft) line(kind LineKind, text string) {
	body, ended := strings.CutSuffix(text, "\n")
	d.add(kind, body)
	if !ended {
		d.add(Note, "no line end at the end of the file")
	}
}

// splitLines cuts a text after each line end.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// isText reports whether data can be shown as lines.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
