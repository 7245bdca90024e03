package learn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// npmrc has the settings of an npmrc: the last value of each key, with variables replaced.
type npmrc map[string]string

// variable matches a reference to an environment variable: ${NAME}, or ${NAME?} for one that may
// be missing.
var variable = regexp.MustCompile(`\$\{([^${}?]+)(\?)?\}`)

// readNpmrc parses an npmrc. It leaves out settings with a variable that is not set, because npm
// would keep the reference in place of the value, and lines that are not settings.
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
			break // npm has no settings in sections
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

// unquoteIni removes the quotes of a value, or the comment after a value without quotes.
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

// merge adds settings that have precedence over those that are there.
func (rc npmrc) merge(over npmrc) {
	for key, value := range over {
		rc[key] = value
	}
}
