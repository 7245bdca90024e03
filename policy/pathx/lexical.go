package pathx

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPath      = 4096 // bytes of a whole path, the kernel's limit
	maxComponent = 255  // bytes of one component
)

var (
	scheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	dollar  = regexp.MustCompile(`\$(\{|\(|[A-Z_][A-Z0-9_]+)`)
	dollar1 = regexp.MustCompile(`^\$([{(]|[A-Za-z_][A-Za-z0-9_]*(/|$))`)
	percent = regexp.MustCompile(`%[A-Za-z_][A-Za-z0-9_]*%`)
)

// Check refuses malformed paths. It looks only at the bytes and not at the file system.
// The errors do not quote the path.
func Check(p string) error {
	switch {
	case p == "":
		return refuse("the path is empty")
	case len(p) > maxPath:
		return refuse("the path is longer than %d bytes", maxPath)
	case !utf8.ValidString(p):
		return refuse("the path is not UTF-8")
	case strings.TrimFunc(p, unicode.IsSpace) != p:
		return refuse("the path begins or ends with white space")
	}
	if harmless(p) {
		return nil
	}
	if err := checkRunes(p); err != nil {
		return err
	}
	switch {
	case scheme.MatchString(p):
		return refuse("the path begins with a scheme or a drive letter")
	case strings.HasPrefix(p, "~") && p != "~" && !strings.HasPrefix(p, "~/"):
		return refuse("the path names the home directory of a user")
	case dollar.MatchString(p) || dollar1.MatchString(p) || percent.MatchString(p):
		return refuse("the path contains an unexpanded variable")
	}
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > maxComponent {
			return refuse("a component of the path is longer than %d bytes", maxComponent)
		}
	}
	return nil
}

// harmless reports whether a short absolute path consists only of letters, digits and
// common punctuation, so that no other check can refuse it.
func harmless(p string) bool {
	if p[0] != '/' || len(p) > maxComponent {
		return false
	}
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '-' && c <= '9' || c == '_' {
			continue
		}
		return false
	}
	return true
}

// checkRunes refuses control characters, backslashes, line separators, and characters that
// reorder or hide text on a screen.
func checkRunes(p string) error {
	for _, r := range p {
		switch {
		case r == 0:
			return refuse("the path contains a NUL byte")
		case r < 0x20 || (r >= 0x7f && r <= 0x9f):
			return refuse("the path contains a control character")
		case r == '\\':
			return refuse("the path contains a backslash")
		case isBidi(r):
			return refuse("the path contains a character that reorders or hides text")
		}
	}
	return nil
}

func isBidi(r rune) bool {
	switch {
	case r < 0x61c:
		return false
	case r == 0x61c, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f // tags, invisible everywhere
}
