package gitx

import (
	"regexp"
	"strings"
)

// number is an integer as git's configuration has them: decimal, octal or
// hexadecimal, with a unit.
var number = regexp.MustCompile(`^[ \t\n\v\f\r]*[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)[kKmMgG]?$`)

// boolean reads a boolean as git does, for which every number but 0 is true. What
// git would not read is not known, but for numbers that are too large.
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
