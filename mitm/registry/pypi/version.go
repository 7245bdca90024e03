package pypi

import (
	"regexp"
	"strings"
)

// version is a version of PEP 440.
type version struct {
	text       string // normalized: "1.0rc1.post2+local.1"
	key        string // the same for equal versions, such as 1.0 and 1.0.0
	prerelease bool
}

// versionForm is the syntax of PEP 440 in lower case.
var versionForm = regexp.MustCompile(`^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
	`(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?([0-9]+)?)?` +
	`(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]+)?)?` +
	`([-_.]?dev[-_.]?([0-9]+)?)?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

var phases = map[string]string{"alpha": "a", "a": "a", "beta": "b", "b": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}

// parseVersion reads a version. Like pip and uv, it refuses what PEP 440 does not allow.
func parseVersion(text string) (version, bool) {
	if len(text) > 128 {
		return version{}, false
	}
	m := versionForm.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return version{}, false
	}
	var epoch, after string
	if e := number(m[1]); e != "0" {
		epoch = e + "!"
	}
	release := strings.Split(m[2], ".")
	for i := range release {
		release[i] = number(release[i])
	}
	if m[3] != "" {
		after += phases[m[3]] + number(m[4])
	}
	if m[5] != "" || m[6] != "" {
		after += ".post" + number(m[5]+m[7])
	}
	if m[8] != "" {
		after += ".dev" + number(m[9])
	}
	if m[10] != "" {
		local := strings.FieldsFunc(m[10], func(r rune) bool { return r < 0x80 && separator(byte(r)) })
		for i := range local {
			if strings.Trim(local[i], "0123456789") == "" {
				local[i] = number(local[i])
			}
		}
		after += "+" + strings.Join(local, ".")
	}
	v := version{text: epoch + strings.Join(release, ".") + after, prerelease: m[3] != "" || m[8] != ""}
	for len(release) > 1 && release[len(release)-1] == "0" {
		release = release[:len(release)-1]
	}
	v.key = epoch + strings.Join(release, ".") + after
	return v, true
}

// VersionKey returns a text that is the same for all spellings of a version. For an invalid version
// it returns the text itself.
func VersionKey(text string) string {
	if v, ok := parseVersion(text); ok {
		return v.key
	}
	return text
}

// SameVersion reports whether two texts are the same version by PEP 440, such as 1.0 and v1.0.0.
func SameVersion(a, b string) bool {
	v, ok := parseVersion(a)
	w, also := parseVersion(b)
	return ok && also && v.key == w.key
}

// number returns a number without leading zeros; empty text becomes 0.
func number(s string) string {
	if s = strings.TrimLeft(s, "0"); s == "" {
		return "0"
	}
	return s
}

// isNormalVersion reports whether a version is in normal form.
func isNormalVersion(text string) bool {
	v, ok := parseVersion(text)
	return ok && v.text == text
}
