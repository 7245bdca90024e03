package grant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// describe describes in one sentence everything that a pattern lets through. Equal patterns
// have equal descriptions.
func describe(name string, p pattern, prose []string) string {
	var parts []string
	for _, at := range slices.SortedFunc(maps.Keys(p.slots), func(a, b slot) int {
		return strings.Compare(a.argument+"\x00"+string(a.role), b.argument+"\x00"+string(b.role))
	}) {
		parts = append(parts, fmt.Sprintf("%s (%s) %s", quoteName(at.argument), at.role, p.slots[at].describe()))
	}
	for _, argument := range slices.Sorted(maps.Keys(p.rest)) {
		parts = append(parts, fmt.Sprintf("%s as here: %s", quoteName(argument), strconv.QuoteToASCII(p.rest[argument])))
	}
	for _, argument := range slices.Sorted(slices.Values(prose)) {
		parts = append(parts, fmt.Sprintf("any %s", quoteName(argument)))
	}
	return quoteName(name) + " with " + strings.Join(parts, "; ") + "; no other argument"
}

func (a allowed) describe() string {
	var ways []string
	for _, text := range a.texts {
		ways = append(ways, strconv.QuoteToASCII(text))
	}
	for _, origin := range a.origins {
		ways = append(ways, "any address at "+strconv.QuoteToASCII(origin))
	}
	if a.directory != "" {
		ways = append(ways, "or anything directly in "+strconv.QuoteToASCII(a.directory)+" that is not hidden")
	}
	return strings.Join(ways, ", ")
}

// quoteName quotes a name unless it is plain.
func quoteName(name string) string {
	for _, r := range name {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
		if !plain {
			return strconv.QuoteToASCII(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}
