package input

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// maxListed bounds how many directory entries are looked at for completion.
const maxListed = 4096

// ParseCommand splits a line that begins with a slash into the command's name, in lower
// case, and its arguments.
func ParseCommand(line string) (name, args string) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "/"))
	name, args, _ = strings.Cut(line, " ")
	return strings.ToLower(name), strings.TrimSpace(args)
}

// Completions are the candidates that begin with prefix.
func Completions(prefix string, candidates []string) []string {
	var out []string
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) {
			out = append(out, c)
		}
	}
	return out
}

// CommonPrefix is the longest start that all words share.
func CommonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}

// Number reads the number in "/tab 3" or "/approve #3".
func Number(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "#"))
	return n, err == nil && n > 0
}

// Directories lists the directories whose path begins with word. It lists hidden ones
// only when the last name in word begins with a dot.
func Directories(word string) []string {
	dir, base := filepath.Split(word)
	where, err := ExpandHome(dir)
	if err != nil || where == "" {
		return nil
	}
	f, err := os.Open(where)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxListed)
	var out []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(base, ".")
		if e.IsDir() && !hidden && !strings.ContainsFunc(e.Name(), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			out = append(out, dir+e.Name()+"/")
		}
	}
	sort.Strings(out)
	return out
}

// ExpandHome replaces a leading ~ by the home directory, and makes the path
// absolute.
func ExpandHome(dir string) (string, error) {
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
	return filepath.Abs(dir)
}
