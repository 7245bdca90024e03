package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
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
		return "/" + strings.Join(at, "/"), unknownName(unknown.Properties[0], v.SchemaURL)
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

// unknownName is the error of a name that an object of the schema does not have. It proposes those
// with the most similar spelling.
func unknownName(name, object string) error {
	var known []string
	for _, one := range namesAt(object) {
		known = append(known, strconv.Quote(one))
	}
	return errors.New("there is no setting of this name" + text.DidYouMean(strconv.Quote(name), known))
}

// namesAt returns the names that an object of the schema has, sorted.
func namesAt(object string) []string {
	var at any
	if json.Unmarshal(schema, &at) != nil {
		return nil
	}
	_, pointer, _ := strings.Cut(object, "#")
	for _, step := range strings.Split(pointer+"/properties", "/")[1:] {
		switch of := at.(type) {
		case map[string]any:
			at = of[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(of) {
				return nil
			}
			at = of[i]
		}
	}
	names, _ := at.(map[string]any)
	return slices.Sorted(maps.Keys(names))
}

// placeOf returns where in data the last of some nested names is, or a text behind it. length is 0
// when none of them was found.
func placeOf(data []byte, names []string, text string) (at, length int) {
	for _, name := range names {
		for from := at; ; {
			quoted := fmt.Appendf(nil, "%q", name)
			i := bytes.Index(data[from:], quoted)
			if i < 0 {
				break
			}
			if from += i + len(quoted); bytes.HasPrefix(bytes.TrimLeft(data[from:], " \t\r\n"), []byte(":")) {
				at, length = from-len(quoted), len(quoted)
				break
			}
		}
	}
	quoted := fmt.Appendf(nil, "%q", text)
	if i := bytes.Index(data[at:], quoted); text != "" && i >= 0 {
		at, length = at+i, len(quoted)
	}
	return at, length
}
