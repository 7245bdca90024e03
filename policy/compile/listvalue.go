package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// maxValues is how many values a list may have.
const maxValues = 500

// checkValue refuses a value that is not of the list's type. "domains" are public host
// names of at least two labels, optionally after "*.", and no public suffixes; "emails"
// are addresses; "identifiers" are names without spaces.
func checkValue(listType, value string) error {
	if err := plain(value); err != nil || value == "" || len(value) > 253 || strings.ContainsAny(value, " @\t") && listType != "emails" {
		return errors.New("it is empty, too long, or contains a character that such a value cannot have")
	}
	switch listType {
	case "domains":
		return checkDomain(value)
	case "emails":
		name, host, ok := strings.Cut(value, "@")
		if !ok || name == "" || strings.ContainsAny(value, " ,;<>\"()") || checkDomain(host) != nil || strings.HasPrefix(host, "*") {
			return errors.New("it is not one email address")
		}
		return nil
	case "identifiers":
		if value == "*" {
			return errors.New("it means every name")
		}
		return nil
	}
	return fmt.Errorf("unknown list type %q", listType)
}

func checkDomain(value string) error {
	if !strings.Contains(strings.TrimPrefix(value, "*."), ".") {
		return errors.New("a host name has at least two labels")
	}
	p, err := urlx.ParsePattern(value)
	if err != nil {
		return err
	}
	if !p.Plain() || !p.Public() {
		return errors.New("it is not the name of a public host")
	}
	if p.CoversSuffix() {
		return errors.New("anybody can have a name below it; name the hosts themselves")
	}
	return nil
}
