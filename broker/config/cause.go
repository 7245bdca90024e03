package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// firstCause reduces a validation error to the first thing that is wrong: where
// it stands, as a JSON pointer, and what it is.
func firstCause(err error) (field string, cause error) {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return "", err
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	at := v.InstanceLocation
	if unknown, ok := v.ErrorKind.(*kind.AdditionalProperties); ok && len(unknown.Properties) > 0 {
		at = append(append([]string(nil), at...), unknown.Properties[0])
		return "/" + strings.Join(at, "/"), errors.New("nobody knows this name")
	}
	text := v.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	return "/" + strings.Join(at, "/"), errors.New(text)
}

// lineOf finds the line on which the last of some names stands, each inside the
// one before, or behind them a text.
func lineOf(data []byte, names []string, text string) int {
	at := 0
	if text != "" {
		names = append(names[:len(names):len(names)], text)
	}
	for _, name := range names {
		if i := bytes.Index(data[at:], fmt.Appendf(nil, "%q", name)); i >= 0 {
			at += i
		}
	}
	return 1 + bytes.Count(data[:at], []byte("\n"))
}
