package policy

import (
	"regexp"
	"slices"
	"strings"
)

// matches reports whether a value is on a list. Names that the engine brings to lower
// case are compared without regard to it. What cannot be told is no match for a rule
// that allows, and one for any other: whom that was to hold back must not slip past it.
func (l *listRule) matches(el *element, then Decision) bool {
	if l.unknown {
		return true
	}
	strict := then == Allow
	switch l.match {
	case "domains":
		return matchAny(l.patterns, el, then) || !strict && el.target == nil && !el.role.IsURL()
	case "emails":
		return slices.ContainsFunc(l.values, func(v string) bool { return equalFold(v, el.text) }) || !strict && !plainMail.MatchString(el.text)
	}
	if !strict || el.role.category() == identifier {
		return slices.ContainsFunc(l.values, func(v string) bool { return equalFold(v, el.text) })
	}
	return slices.Contains(l.values, el.text)
}

// plainMail is one address of mail and nothing else: no name before it and no second
// address behind it.
var plainMail = regexp.MustCompile(`^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]+@[A-Za-z0-9.-]+$`)

// equalFold compares without regard to the case of ASCII letters. What else Unicode
// folds into them, such as the long s, makes another name.
func equalFold(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}
