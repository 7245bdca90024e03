package policy

import (
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// freeText are arguments that are text and nothing else, whatever stands in
// them: a file's content may well be a path or an option.
var freeText = []string{
	"content", "edits", "text", "data", "query",
	"message", "author", "grep", "since", "until", "description", "body", "title", "format",
}

// optionValues are free texts that a git server hands to git as the value of an
// option. None of them begins like an option itself.
var optionValues = []string{"author", "grep", "since", "until", "format", "pattern", "query"}

// fileNamePatterns are arguments that select among the files below a directory
// which the call names.
var fileNamePatterns = []string{"pattern", "excludePatterns"}

// strayValue refuses values in arguments without a meaning that the server
// could read as a path, an address or, for git, an option. Being inside the
// sandbox lets a whole call pass, so no part of it may point out of it unseen.
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
