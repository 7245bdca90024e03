package text

import (
	"strings"
	"unicode/utf8"
)

// Clip returns s, or at most its first limit bytes and an ellipsis. It cuts between
// characters.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Prefix(s, limit) + "…"
}

// OneLine returns the words of s with a single space between them, clipped to limit
// bytes.
func OneLine(s string, limit int) string {
	return Clip(strings.Join(strings.Fields(s), " "), limit)
}

// FirstLine returns the first line of s that is not blank, clipped to limit bytes.
func FirstLine(s string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return Clip(strings.TrimRight(line, "\r"), limit)
}

// Prefix returns at most the first limit bytes of s, cut between characters.
func Prefix(s string, limit int) string {
	limit = min(limit, len(s))
	for limit > 0 && limit < len(s) && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
