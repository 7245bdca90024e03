package learn

import "strings"

// readNetrc returns the login for a machine, or "". It does not use the entry "default", which
// names no registry.
func readNetrc(data []byte, machine string) string {
	words := netrcWords(string(data))
	found, name, password := false, "", ""
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch words[i] {
		case "machine", "default":
			if found {
				return netrcLogin(name, password)
			}
			if words[i] == "machine" {
				found = strings.EqualFold(next, machine)
				i++
			}
			name, password = "", ""
		case "login":
			name, i = next, i+1
		case "password":
			password, i = next, i+1
		case "account":
			i++
		}
	}
	if !found {
		return ""
	}
	return netrcLogin(name, password)
}

func netrcLogin(name, password string) string {
	if name == "" || password == "" {
		return ""
	}
	return basic(name, password)
}

// netrcWords returns the words of a netrc without comments and macros. A macro ends at an empty
// line.
func netrcWords(text string) []string {
	var words []string
	macro := false
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			macro = false
		case macro || strings.HasPrefix(fields[0], "#"):
		case fields[0] == "macdef":
			macro = true
		default:
			words = append(words, fields...)
		}
	}
	return words
}
