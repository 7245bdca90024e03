package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// checkRef returns why a revision, branch, tag or remote name is refused, or "". Git must
// never read a reference as an option, a path or a refspec. If colon is true, a colon is
// accepted, because it can only name a file inside a revision, as in HEAD:main.go.
func checkRef(r Role, s string, colon bool) string {
	switch {
	case s == "":
		return "the reference is empty"
	case len(s) > 1024:
		return "the reference is too long"
	case strings.HasPrefix(s, "-"):
		return "the reference looks like an option"
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~"):
		return "the reference looks like a path"
	case strings.HasPrefix(s, "+") || strings.HasPrefix(s, ":"):
		return "the reference looks like a refspec"
	case strings.Contains(s, "../") || strings.Contains(s, "/..") || strings.Contains(s, "//") || strings.Contains(s, "::"):
		return "the reference looks like a path or an address"
	}
	if strings.Contains(s, ":") && !colon {
		return "the reference looks like a refspec"
	}
	if r == GitRemoteName && (strings.ContainsAny(s, ":^~?*[\\/@{") || strings.Contains(s, "..")) {
		return "the name has a character that names of remotes cannot have"
	}
	return checkRefCharacters(s)
}

func checkRefCharacters(s string) string {
	inBraces := false // "@{1 day ago}" may hold spaces
	for _, c := range s {
		switch {
		case c == '{':
			inBraces = true
		case c == '}':
			inBraces = false
		case c == ' ' && inBraces:
		case c <= ' ' || c == 0x7f || (c >= 0x80 && c <= 0xa0) || (c >= 0x2000 && c <= 0x206f) || c == 0xfeff:
			return "the reference contains white space or an invisible character"
		case c == '\\' || c == '`' || c == '$' || c == ';' || c == '|' || c == '<' || c == '>' || c == '"' || c == '\'':
			return "the reference contains a character that references cannot have"
		}
	}
	return ""
}

// checkRepoPath returns why a path inside a repository is refused, or "".
func checkRepoPath(s string) string {
	switch {
	case s == "":
		return "the path is empty"
	case strings.HasPrefix(s, "-"):
		return "the path looks like an option"
	case strings.HasPrefix(s, ":"):
		return "the path begins with pathspec magic"
	case strings.HasPrefix(s, "~"):
		return "the path names a home directory"
	case slices.Contains(strings.Split(s, "/"), ".."):
		return "the path goes up"
	}
	if err := pathx.Check(s); err != nil {
		return err.Error()
	}
	return ""
}

// checkPattern refuses a path inside a repository if git would take it as a pattern that
// selects something protected below dir.
func (p *preparation) checkPattern(name, pattern, dir string) error {
	if !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
	for i := range p.protected.resolved {
		protected := &p.protected.resolved[i]
		if protected.Path == dir || !pathx.Within(protected.Path, dir) {
			continue
		}
		below := strings.TrimPrefix(protected.Path[len(dir):], "/")
		file := protected.Exists && !protected.Dir
		if selects(pattern, below, false) || !file && selects(pattern, below+"/", true) {
			return p.refuse(RuleProtectedPath, name, firstPath(p.rootRole), dir+"/"+pattern, "the pattern selects a protected path")
		}
	}
	return nil
}

// selects reports whether a name could match a pattern of git. If beginning is true, it
// reports whether any name that begins with name could match. "*" also matches slashes,
// as in git; "[…]" matches any character, which is more than in git; case is ignored.
func selects(pattern, name string, beginning bool) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	at := make([]bool, len(pattern)+1) // positions in the pattern that the match can be at
	at[0] = true
	skipStars(pattern, at)
	for i := 0; i < len(name); i++ {
		next := make([]bool, len(at))
		opened := len(pattern) // the first "[" that the match can be at
		for j := range len(pattern) {
			if pattern[j] == ']' && j >= opened+2 {
				next[j+1] = true
			}
			if !at[j] {
				continue
			}
			switch pattern[j] {
			case '*':
				next[j] = true
			case '?', name[i]:
				next[j+1] = true
			}
			if pattern[j] == '[' {
				opened = min(opened, j)
			}
		}
		skipStars(pattern, next)
		at = next
	}
	if beginning {
		at[len(pattern)] = false // the pattern is used up, so nothing can follow
		for _, can := range at {
			if can {
				return true
			}
		}
		return false
	}
	return at[len(pattern)]
}

// skipStars lets each star match the empty string.
func skipStars(pattern string, at []bool) {
	for j := range len(pattern) {
		if at[j] && pattern[j] == '*' {
			at[j+1] = true
		}
	}
}
