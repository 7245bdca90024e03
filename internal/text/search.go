package text

import "strings"

// Index is strings.Index for a search that a person types: case matters only if the query has capital
// letters.
func Index(text, query string) int {
	if query == strings.ToLower(query) {
		if lower := strings.ToLower(text); len(lower) == len(text) { // otherwise offsets would differ from those in text
			text = lower
		}
	}
	return strings.Index(text, query)
}
