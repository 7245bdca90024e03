package learn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// npmrc is what an npmrc says: the last value of each key, with variables replaced.
type npmrc map[string]string

// variable is a reference to an environment variable: ${NAME}, or ${NAME?} for one that may
// be missing.
var variable = regexp.MustCompile(`\$\{([^${}?]+)(\?)?\}`)

// readNpmrc reads the text of an npmrc. A value with a variable that is not set is left out,
// because npm would use the name in place of the value. Lines that say nothing are left out.
func readNpmrc(data []byte, env func(string) string) npmrc {
	rc := npmrc{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFileSize)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			break // a section: npm has no settings in one
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		key, known := expand(unquoteIni(strings.TrimSpace(key)), env)
		value, set := expand(unquoteIni(strings.TrimSpace(value)), env)
		if known && set && key != "" && !strings.HasSuffix(key, "[]") { // [] makes a list
			rc[key] = value
		}
	}
	return rc
}

// unquoteIni takes off the quotes of a value, or a comment behind a value without quotes.
func unquoteIni(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		var inner string
		if json.Unmarshal([]byte(s), &inner) == nil {
			return inner
		}
		return s
	}
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return s[1 : len(s)-1]
	}
	for i := range len(s) {
		if (s[i] == ';' || s[i] == '#') && (i == 0 || s[i-1] != '\\') {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

// expand replaces variables. It reports whether all of them are set.
func expand(s string, env func(string) string) (out string, ok bool) {
	ok = true
	out = variable.ReplaceAllStringFunc(s, func(ref string) string {
		m := variable.FindStringSubmatch(ref)
		value := env(m[1])
		if value == "" && m[2] == "" {
			ok = false
		}
		return value
	})
	return out, ok
}

// merge adds settings that take precedence.
func (rc npmrc) merge(over npmrc) {
	for key, value := range over {
		rc[key] = value
	}
}
