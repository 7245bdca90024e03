package policy

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
)

// checkPattern refuses a path inside a repository that git takes for a pattern,
// when the pattern selects something protected below the directory it starts from.
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

// selects reports whether git could take a name to match a pattern, or, where it
// is only the beginning of names, one of these. "*" stands for slashes as well, as
// in git; "[…]" for any character, which is more than in git; and case means nothing.
func selects(pattern, name string, beginning bool) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	at := make([]bool, len(pattern)+1) // where in the pattern the match can stand
	at[0] = true
	skipStars(pattern, at)
	for i := 0; i < len(name); i++ {
		next := make([]bool, len(at))
		opened := len(pattern) // the first "[" at which the match can stand
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
		at[len(pattern)] = false // nothing can follow
		for _, can := range at {
			if can {
				return true
			}
		}
		return false
	}
	return at[len(pattern)]
}

// skipStars lets stars stand for nothing.
func skipStars(pattern string, at []bool) {
	for j := range len(pattern) {
		if at[j] && pattern[j] == '*' {
			at[j+1] = true
		}
	}
}
