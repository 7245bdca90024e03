package input

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// Words splits text at spaces. Quotes and backslashes protect spaces, as in a shell, because
// terminals write the path of a dropped file in this form.
func Words(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("the text ends within a quote or after a backslash")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// escapedSpace is what Words reads as a space that is part of a word.
const escapedSpace = `\ `

// Escape writes the spaces of a path so that Words reads them as part of a word.
func Escape(path string) string { return strings.ReplaceAll(path, " ", escapedSpace) }

// Unescape undoes Escape.
func Unescape(word string) string { return strings.ReplaceAll(word, escapedSpace, " ") }

// Unquote returns the path in a text that begins with a quote or protects a space with a backslash, if
// the whole text is one word to Words. Any other text is a path as it is, with its spaces.
func Unquote(text string) string {
	protects := strings.HasPrefix(text, "'") || strings.HasPrefix(text, `"`) || strings.Contains(text, escapedSpace)
	if words, err := Words(text); protects && err == nil && len(words) == 1 {
		return words[0]
	}
	return text
}

// Paths splits text into paths of files and makes each absolute, from the directory here. A path
// may be a file URL.
func Paths(here, text string) ([]string, error) {
	words, err := Words(text)
	if err != nil {
		return nil, err
	}
	for i, word := range words {
		if u, err := url.Parse(word); err == nil && u.Scheme == "file" && u.Path != "" {
			word = u.Path
		}
		if words[i], err = Absolute(here, word); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// PastedPath returns the path in pasted text that is only a path: one word that begins like an
// absolute path.
func PastedPath(text string) (path string, ok bool) {
	begin := strings.TrimLeft(strings.TrimSpace(text), `'"`)
	if !strings.HasPrefix(begin, "/") && !strings.HasPrefix(begin, "~/") && !strings.HasPrefix(begin, "file:///") {
		return "", false
	}
	paths, err := Paths("", text)
	if err != nil || len(paths) != 1 {
		return "", false
	}
	return paths[0], true
}

// Directories lists the directories with which word can be completed: all in the directory that word
// names up to its last slash, as a path from here. The caller compares them with the rest of word.
// Hidden directories are listed only if that rest begins with a dot.
func Directories(here, word string) []string { return list(here, word, false) }

// Files lists directories like Directories, and also regular files and names with spaces.
func Files(here, word string) []string { return list(here, word, true) }

func list(here, word string, files bool) []string {
	where, err := Absolute(here, cmp.Or(filepath.Dir(word+"x"), "."))
	if err != nil {
		return nil
	}
	f, err := os.OpenFile(where, os.O_RDONLY|unix.O_DIRECTORY, 0) // opening a pipe would block
	if err != nil {
		return nil
	}
	return entriesOf(f, word, files)
}

// Inside is Files for paths from base. An agent can write to base, so Inside follows no symbolic link
// out of it. word may also begin with seenAt, which is the path at which the agent sees base; any
// other absolute path gives nothing.
func Inside(base, seenAt, word string) []string {
	below, seen := strings.CutPrefix(word, seenAt+"/")
	if filepath.IsAbs(word) && !seen {
		return nil
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.Dir(below+"x"), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	return entriesOf(f, word, true)
}

// entriesOf lists the entries of an open directory, each after the directory that word names, and
// closes f. It leaves out names that a line could not express.
func entriesOf(f *os.File, word string, files bool) []string {
	defer f.Close()
	dir, base := filepath.Split(word)
	entries, _ := f.ReadDir(maxListed)
	var out []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if hidden || dir == "" && misread(e.Name()) || strings.ContainsFunc(e.Name(), func(r rune) bool { return special(r) && (r != ' ' || !files) }) {
			continue
		}
		if e.IsDir() {
			out = append(out, dir+e.Name()+"/")
		} else if files && e.Type().IsRegular() {
			out = append(out, dir+e.Name())
		}
	}
	sort.Strings(out)
	return out
}

// misread reports whether a name at the beginning of a word would be read as something else: as a
// flag, the home directory or a file URL.
func misread(name string) bool {
	const scheme = "file:"
	return strings.HasPrefix(name, "-") || name == "~" || len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

// special reports whether Words may read a character as something other than a part of a name.
func special(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("\\'\"", r)
}

// Absolute replaces a leading ~ of a path by the home directory, and makes the path absolute, from
// the directory here. An empty here is the current directory, and an empty path stays empty.
func Absolute(here, dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home directory: %w", err)
		}
		dir = filepath.Join(home, dir[1:])
	}
	if here != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(here, dir)
	}
	return filepath.Abs(dir)
}
