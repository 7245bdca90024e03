package cargo

import "strings"

// maxName bounds a crate's name, in bytes.
const maxName = 64

// isName reports whether text is the name of a crate.
func isName(text string) bool {
	if text == "" || len(text) > maxName || text[0] == '-' {
		return false
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; !alphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// prefix returns the directory of a crate in an index: "1", "2", "3/a", "ab/cd".
func prefix(name string) string {
	switch len(name) {
	case 1:
		return "1"
	case 2:
		return "2"
	case 3:
		return "3/" + name[:1]
	}
	return name[:2] + "/" + name[2:4]
}

// indexPath returns the path of a crate's document.
func indexPath(name string) string {
	name = strings.ToLower(name)
	return prefix(name) + "/" + name
}

// isVersion reports whether text is a version by Semantic Versioning 2.0.0, which allows only one
// spelling, and whether it is a prerelease.
func isVersion(text string) (prerelease, ok bool) {
	if len(text) > 128 {
		return false, false
	}
	text, build, built := strings.Cut(text, "+")
	if built && !identifiers(build, false) {
		return false, false
	}
	text, pre, prerelease := strings.Cut(text, "-")
	if prerelease && !identifiers(pre, true) {
		return false, false
	}
	numbers := strings.Split(text, ".")
	if len(numbers) != 3 {
		return false, false
	}
	for _, n := range numbers {
		if !number(n) {
			return false, false
		}
	}
	return prerelease, true
}

// number reports whether text is a number without leading zeros that fits into 64 bits.
func number(text string) bool {
	const most = "18446744073709551615"
	if text == "" || text[0] == '0' && text != "0" || len(text) > len(most) || len(text) == len(most) && text > most {
		return false
	}
	return allDigits(text)
}

func allDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// identifiers reports whether text is identifiers separated by dots. Numeric identifiers of a
// prerelease must not have leading zeros.
func identifiers(text string, prerelease bool) bool {
	for id := range strings.SplitSeq(text, ".") {
		if id == "" || prerelease && allDigits(id) && id[0] == '0' && id != "0" {
			return false
		}
		for i := 0; i < len(id); i++ {
			if !alphanumeric(id[i]) && id[i] != '-' {
				return false
			}
		}
	}
	return true
}
