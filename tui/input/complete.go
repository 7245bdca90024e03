package input

import (
	"strconv"
	"strings"
)

// maxListed bounds how many entries of a directory are read for completion.
const maxListed = 4096

// ParseCommand splits a line that begins with a slash into the command's name, in lower
// case, and its arguments.
func ParseCommand(line string) (name, args string) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "/"))
	name, args, _ = strings.Cut(line, " ")
	return strings.ToLower(name), strings.TrimSpace(args)
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
