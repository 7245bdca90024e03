package policy

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// checkPattern refuses a path inside a repository if git would take it as a pattern that
// selects something protected below dir.
func (p *preparation) checkPattern(name, pattern, dir string) error {
	if !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
	for i := range p.protected.now {
		protected := &p.protected.now[i]
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
