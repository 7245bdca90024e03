package panel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// field is one leaf of a JSON value: its path and its value, both sanitized.
type field struct {
	path  string
	value string
}

// flatten lists the leaves of a JSON value in the order they are written.
// Strings keep their quotes, so that "1" and 1 differ; empty objects and arrays
// are leaves as well.
func flatten(raw json.RawMessage) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out []field
	if err := flattenValue(d, "", &out); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return out, nil
}

func flattenValue(d *json.Decoder, path string, out *[]field) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return flattenObject(d, path, out)
		}
		return flattenArray(d, path, out)
	case string:
		*out = append(*out, field{path, Quote(v)})
	case json.Number:
		*out = append(*out, field{path, v.String()})
	case bool:
		*out = append(*out, field{path, strconv.FormatBool(v)})
	case nil:
		*out = append(*out, field{path, "null"})
	}
	return nil
}

func flattenObject(d *json.Decoder, path string, out *[]field) error {
	n := 0
	for ; d.More(); n++ {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		child := fieldName(name)
		if path != "" {
			child = path + "." + child
		}
		if err := flattenValue(d, child, out); err != nil {
			return err
		}
	}
	if n == 0 {
		*out = append(*out, field{path, "{}"})
	}
	_, err := d.Token()
	return err
}

func flattenArray(d *json.Decoder, path string, out *[]field) error {
	n := 0
	for ; d.More(); n++ {
		if err := flattenValue(d, path+"["+strconv.Itoa(n)+"]", out); err != nil {
			return err
		}
	}
	if n == 0 {
		*out = append(*out, field{path, "[]"})
	}
	_, err := d.Token()
	return err
}

// Quote returns a string sanitized and between quotes. A quote inside it is not escaped.
func Quote(s string) string { return `"` + text.Drawable(s) + `"` }

// fieldName returns the name of a member for a path; a name that is not a plain word is
// quoted.
func fieldName(name string) string {
	if name == "" {
		return `""`
	}
	for _, r := range name {
		word := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
		if !word {
			return Quote(name)
		}
	}
	return name
}
