package text

import "strings"

var separators = strings.NewReplacer("_", "-", ".", "-")

// Fold returns a name in lower case, with one dash for each run of dashes, underscores and dots,
// because many programs treat these as the same.
func Fold(name string) string {
	name = separators.Replace(strings.ToLower(name))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return name
}
