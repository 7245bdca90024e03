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

// Words splits text at spaces. Quotes and backslashes protect spaces, as in a shell:
// terminals write the path of a dropped file so.
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
		return nil, errors.New("a quote or backslash at the end has nothing behind it")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// escapedSpace is how Words reads a space that is part of a word.
const escapedSpace = `\ `

// Escape writes the spaces of a path so that Words reads them as part of a word.
func Escape(path string) string { return strings.ReplaceAll(path, " ", escapedSpace) }

// Unescape undoes Escape.
func Unescape(word string) string { return strings.ReplaceAll(word, escapedSpace, " ") }

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

// PastedPath returns the path of a file if pasted text is nothing else: one word that begins
// as an absolute path.
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

// Directories lists the directories whose path, from the directory here, begins with word. It lists
// hidden ones only when the last name in word begins with a dot.
func Directories(here, word string) []string { return listed(here, word, false) }

// Files is Directories, and lists regular files as well, and names with spaces.
func Files(here, word string) []string { return listed(here, word, true) }

func listed(here, word string, files bool) []string {
	where, err := Absolute(here, cmp.Or(filepath.Dir(word+"x"), "."))
	if err != nil {
		return nil
	}
	f, err := os.OpenFile(where, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe of that name would wait
	if err != nil {
		return nil
	}
	return names(f, word, files)
}

// Inside lists the files and directories below a directory that an agent can write to, whose path
// from there begins with word, which may begin with the path that the agent sees it at. No link
// leads it out of there.
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
	return names(f, word, true)
}

// names lists what is in an open directory, behind the directory that a word begins with, and
// closes it.
func names(f *os.File, word string, files bool) []string {
	defer f.Close()
	dir, base := filepath.Split(word)
	entries, _ := f.ReadDir(maxListed)
	var out []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if hidden || dir == "" && otherwise(e.Name()) || strings.ContainsFunc(e.Name(), func(r rune) bool { return special(r) && (r != ' ' || !files) }) {
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

// otherwise reports whether a line would read a name at the beginning of a word as something else: as
// a flag, as the home directory, or as a file of a URL.
func otherwise(name string) bool {
	const scheme = "file:"
	return strings.HasPrefix(name, "-") || name == "~" || len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

// special reports whether a character of a name could make a line mean something else than the name.
func special(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("\\'\"", r)
}

// Absolute replaces a leading ~ of a path by the home directory, and makes it absolute, from the
// directory here. An empty here is the current directory, and an empty path stays empty.
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
