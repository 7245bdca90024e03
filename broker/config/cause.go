package config

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// firstCause returns the first fault of a validation error: its place as a JSON pointer,
// and a description.
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
	return "/" + strings.Join(at, "/"), errors.New(inWords(v.ErrorKind))
}

// inWords describes what is wrong with a value.
func inWords(what jsonschema.ErrorKind) string {
	switch k := what.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("%s is too small; the least is %s", decimal(k.Got), decimal(k.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s is too large; the most is %s", decimal(k.Got), decimal(k.Want))
	}
	return what.LocalizedString(message.NewPrinter(language.English))
}

// decimal writes a number without an exponent and without zeros at its end.
func decimal(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	return strings.TrimRight(n.FloatString(6), "0")
}

// lineOf returns the line of the last of some nested names, or of a text behind them.
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
