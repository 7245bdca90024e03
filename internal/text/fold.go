package text

import "strings"

var separators = strings.NewReplacer("_", "-", ".", "-")

// Fold returns a name in lower case, with one dash for each run of dashes, underscores and dots:
// many that write or read it take these for the same.
func Fold(name string) string {
	name = separators.Replace(strings.ToLower(name))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return name
}
