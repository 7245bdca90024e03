package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
)

// edit is one replacement of the filesystem server's edit_file.
type edit struct {
	Old string `json:"oldText"`
	New string `json:"newText"`
}

// editFile returns the effect of the filesystem server's edit_file.
func (p *Previewer) editFile(path string, edits []edit, dryRun bool) *Effect {
	d := p.newDraft(Diff)
	before, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Fails = "the file does not exist"
		return d.done("changes nothing: %s does not exist", path)
	case err != nil:
		d.fail(err, "the present content cannot be shown")
		if errors.Is(err, errNoFile) {
			d.Fails = err.Error()
		}
		for i, e := range edits {
			d.note("edit %d replaces:", i+1)
			d.lines(Removed, e.Old)
			d.lines(Added, e.New)
		}
		return d.done("edits %s in %s", path, plural(len(edits), "place"))
	case !isText(before):
		d.warn("the file is not text; the server would damage bytes that are not UTF-8")
		return d.done("edits %s in %s", path, plural(len(edits), "place"))
	}
	after := strings.ReplaceAll(string(before), "\r\n", "\n")
	if after != string(before) {
		d.warn("all line ends of the file become LF")
	}
	for i, e := range edits {
		var ok bool
		if after, ok = applyEdit(after, normalEnds(e.Old), normalEnds(e.New)); !ok {
			d.fact("before", digest(before))
			d.note("edit %d: the text to replace is not in the file:", i+1)
			d.lines(Removed, e.Old)
			d.Fails = fmt.Sprintf("the text that edit %d replaces is not in the file", i+1)
			return d.done("changes nothing: the edit of %s would fail", path)
		}
	}
	if dryRun {
		d.note("dryRun: the server only shows the change to the agent")
	}
	return d.compare(path, before, []byte(after))
}

func (d *draft) lines(kind LineKind, text string) {
	for _, l := range splitLines(text) {
		d.line(kind, l)
	}
}

func normalEnds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// applyEdit edits as the server does. It replaces the first exact occurrence of old. If there is none,
// it replaces the first lines that are equal except for leading and trailing white space, and keeps
// their indentation. It returns false if there are no such lines either.
func applyEdit(content, old, now string) (string, bool) {
	if i := strings.Index(content, old); i >= 0 {
		return content[:i] + now + content[i+len(old):], true
	}
	oldLines, lines := strings.Split(old, "\n"), strings.Split(content, "\n")
	for i := 0; i+len(oldLines) <= len(lines); i++ {
		if !sameTrimmed(lines[i:i+len(oldLines)], oldLines) {
			continue
		}
		kept := append([]string{}, lines[:i]...)
		kept = append(kept, reindent(indentOf(lines[i]), oldLines, strings.Split(now, "\n"))...)
		return strings.Join(append(kept, lines[i+len(oldLines):]...), "\n"), true
	}
	return content, false
}

func sameTrimmed(a, b []string) bool {
	for i := range a {
		if trim(a[i]) != trim(b[i]) {
			return false
		}
	}
	return true
}

// reindent gives new lines the indentation of the old ones.
func reindent(indent string, old, now []string) []string {
	out := make([]string, len(now))
	for j, line := range now {
		was, is := "", indentOf(line)
		if j < len(old) {
			was = indentOf(old[j])
		}
		switch {
		case j == 0:
			out[j] = indent + trimLeft(line)
		case was != "" && is != "":
			out[j] = indent + strings.Repeat(" ", max(0, width(is)-width(was))) + trimLeft(line)
		default:
			out[j] = line
		}
	}
	return out
}

func indentOf(s string) string { return s[:len(s)-len(trimLeft(s))] }
func trimLeft(s string) string { return strings.TrimLeftFunc(s, isSpace) }
func trim(s string) string     { return strings.TrimFunc(s, isSpace) }
func width(indent string) int  { return len([]rune(indent)) }
func isSpace(r rune) bool      { return r != 0x85 && (unicode.IsSpace(r) || r == 0xfeff) } // as ECMAScript has it
