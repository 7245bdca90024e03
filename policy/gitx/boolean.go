package gitx

import (
	"regexp"
	"strings"
)

// number matches an integer in git's configuration: decimal, octal or hexadecimal, with an
// optional unit.
var number = regexp.MustCompile(`^[ \t\n\v\f\r]*[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)[kKmMgG]?$`)

// boolean reads a boolean as git does: every number except 0 is true. known is false if git
// would reject the value. Numbers that are too large for git count as known.
func boolean(s string) (value, known bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	digits := number.FindStringSubmatch(s)
	if digits == nil {
		return false, false
	}
	return strings.Trim(digits[1], "0xX") != "", true
}

// mayBeTrue reports whether git could read a boolean as true.
func mayBeTrue(s string) bool {
	value, known := boolean(s)
	return value || !known
}
