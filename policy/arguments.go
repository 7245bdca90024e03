package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// freeText are arguments that servers use only as text. Their values may look like paths
// or options, such as the content of a file.
var freeText = []string{
	"content", "edits", "text", "data", "query",
	"message", "author", "grep", "since", "until", "description", "body", "title", "format",
}

// optionValues are free texts that a git server passes to git as the value of an option.
// They must not begin like an option themselves.
var optionValues = []string{"author", "grep", "since", "until", "format", "pattern", "query"}

// fileNamePatterns are arguments that select files below a directory that the call names.
var fileNamePatterns = []string{"pattern", "excludePatterns"}

// strayValue refuses a value of an argument without roles if the server could read it as
// a path, an address or, for git, an option. A call whose paths lie inside the sandbox is
// allowed as a whole, so none of its other values may name something outside.
func (p *preparation) strayValue(name string, v jsonx.Value) error {
	if p.tool.traits.Git && v.Kind == jsonx.String && slices.Contains(optionValues, name) && strings.HasPrefix(strings.TrimSpace(v.Text), "-") {
		return p.refuse(RuleGitOption, name, None, v.Text, "the value looks like an option")
	}
	points := pointsElsewhere
	switch pattern := slices.Contains(fileNamePatterns, name); {
	case slices.Contains(freeText, name) || (pattern && p.tool.traits.Git):
		return nil
	case pattern:
		points = climbs
	}
	switch v.Kind {
	case jsonx.String:
		if points(strings.TrimSpace(v.Text), p.tool.traits.Git) {
			return p.refuse(RuleStrayValue, name, None, v.Text, "a value without a meaning looks like an option, a path or an address")
		}
	case jsonx.Array:
		for _, item := range v.Items {
			if err := p.strayValue(name, item); err != nil {
				return err
			}
		}
	case jsonx.Object:
		for _, m := range v.Members {
			if err := p.strayValue(name, m.Value); err != nil {
				return err
			}
		}
	default: // numbers, truth values and null point nowhere
	}
	return nil
}

func pointsElsewhere(s string, git bool) bool {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, `\\`) ||
		strings.Contains(s, "..") || strings.Contains(s, "://") || strings.HasPrefix(strings.ToLower(s), "file:") {
		return true
	}
	return git && (strings.HasPrefix(s, "-") || strings.HasPrefix(s, ":") || strings.Contains(s, "::") || strings.Contains(s, " --"))
}

// climbs reports whether a pattern could select files above its directory.
func climbs(s string, _ bool) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || slices.Contains(strings.Split(s, "/"), "..")
}
