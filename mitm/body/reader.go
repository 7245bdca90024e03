package body

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// maxDepth bounds the nesting of arrays and objects.
const maxDepth = 64

// reader reads JSON strictly from bytes in memory, without building a tree. Its methods
// read the value at the cursor. The cursor is on the first byte of a value when they are
// called, and directly after the value when they return.
type reader struct {
	jsonx.Cursor
	depth int
	keys  []jsonx.Span // keys of the objects around the cursor, outermost first
}

func (r *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), r.Pos())
}

// begin checks the encoding and goes to the first value.
func (r *reader) begin(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return errors.New("it begins with a byte order mark")
	}
	if !utf8.Valid(data) {
		return errors.New("it is not valid UTF-8")
	}
	r.Cursor = jsonx.NewCursor(data)
	r.Space()
	if r.AtEnd() {
		return errors.New("it is empty")
	}
	return nil
}

// finish checks that nothing follows.
func (r *reader) finish() error {
	r.Space()
	if !r.AtEnd() {
		return r.errorf("there is data after the end of the value,")
	}
	return nil
}

// skip reads a value of any kind and checks it, but does not return it.
func (r *reader) skip() error {
	switch c := r.Peek(); c {
	case '{':
		return r.object(nil)
	case '[':
		return r.array(r.skip)
	case '"':
		_, err := r.span()
		return err
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return r.number()
		}
		return r.errorf("there is no value")
	}
}

func (r *reader) literal(word string) error {
	if !r.Word(word) {
		return r.errorf("there is no value")
	}
	return nil
}

// number reads a number. Its digits are never converted.
func (r *reader) number() error {
	if _, ok := r.Number(); !ok {
		return r.errorf("a number is malformed")
	}
	return nil
}

// span reads a string and checks its escapes.
func (r *reader) span() (jsonx.Span, error) {
	s, fault := r.Text()
	switch fault {
	case jsonx.Sound:
		return s, nil
	case jsonx.Control:
		return s, r.errorf("a string holds a control character")
	case jsonx.BadEscape:
		return s, r.errorf("a string holds an unknown escape")
	default:
		return s, r.errorf("a string has no end")
	}
}

// str reads a string and decodes it.
func (r *reader) str() (string, error) {
	s, err := r.span()
	if err != nil {
		return "", err
	}
	return r.Decode(s), nil
}

func (r *reader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return r.errorf("it is nested deeper than %d levels", maxDepth)
	}
	return nil
}

// array reads an array; each reads one element.
func (r *reader) array(each func() error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer func() { r.depth-- }()
	more := r.Open(']')
	for more {
		if err := each(); err != nil {
			return err
		}
		next, ok := r.Next(']')
		if !ok {
			return r.errorf("an array is not well-formed")
		}
		more = next
	}
	return nil
}

// object reads an object. Unless each is nil, it gets every key and must read the value.
// Equal keys are an error.
func (r *reader) object(each func(key string) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	outer := len(r.keys)
	defer func() { r.depth--; r.keys = r.keys[:outer] }()
	var seen map[string]struct{} // the keys, when there are many
	more := r.Open('}')
	for more {
		key, err := r.key(outer, &seen)
		if err != nil {
			return err
		}
		if each == nil {
			err = r.skip()
		} else {
			err = each(r.Decode(key))
		}
		if err != nil {
			return err
		}
		next, ok := r.Next('}')
		if !ok {
			return r.errorf("an object is not well-formed")
		}
		more = next
	}
	return nil
}

// fewKeys is how many keys of an object are compared one by one, without a map.
const fewKeys = 16

// key reads a key and the colon after it. It compares the key with the other keys of the
// object, which begin at r.keys[outer].
func (r *reader) key(outer int, seen *map[string]struct{}) (jsonx.Span, error) {
	if r.Peek() != '"' {
		return jsonx.Span{}, r.errorf("a key is missing")
	}
	key, err := r.span()
	if err != nil {
		return key, err
	}
	if key.Escaped() && !r.wellFormed(key) {
		return key, r.errorf("a key contains half a surrogate pair or a null character")
	}
	if *seen == nil {
		for _, other := range r.keys[outer:] {
			if r.Same(key, other) {
				return key, r.errorf("a key appears twice in its object")
			}
		}
		if r.keys = append(r.keys, key); len(r.keys)-outer > fewKeys {
			*seen = make(map[string]struct{}, 2*fewKeys)
			for _, other := range r.keys[outer:] {
				(*seen)[r.Decode(other)] = struct{}{}
			}
			r.keys = r.keys[:outer]
		}
	} else {
		name := r.Decode(key)
		if _, twice := (*seen)[name]; twice {
			return key, r.errorf("a key appears twice in its object")
		}
		(*seen)[name] = struct{}{}
	}
	if !r.Colon() {
		return key, r.errorf("a colon is missing")
	}
	return key, nil
}

// wellFormed reports whether an escaped key contains no single surrogate and no null
// character, at which some parsers would end the key.
func (r *reader) wellFormed(key jsonx.Span) bool {
	return !strings.ContainsAny(r.Decode(key), "\x00\ufffd")
}
