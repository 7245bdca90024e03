package text

import "strings"

// Index is strings.Index for a search that a person types: capital letters in the query make a
// difference, small ones do not.
func Index(text, query string) int {
	if query == strings.ToLower(query) {
		if lower := strings.ToLower(text); len(lower) == len(text) { // else the places would not be those in text
			text = lower
		}
	}
	return strings.Index(text, query)
}
