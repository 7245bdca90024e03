package body

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth bounds the nesting of arrays and objects.
const maxDepth = 64

// reader is a strict JSON reader over bytes in memory. Its methods read the
// value at the cursor, which stands on the first byte of a value when they are
// called and right behind the value when they return. It keeps no tree.
type reader struct {
	data  []byte
	pos   int
	depth int
	keys  []span // of the objects around the cursor, outermost first
}

func (r *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), r.pos)
}

// begin checks the encoding and goes to the first value.
func (r *reader) begin() error {
	if bytes.HasPrefix(r.data, []byte("\xef\xbb\xbf")) {
		return errors.New("it begins with a byte order mark")
	}
	if !utf8.Valid(r.data) {
		return errors.New("it is not valid UTF-8")
	}
	r.space()
	if r.pos == len(r.data) {
		return errors.New("it is empty")
	}
	return nil
}

// finish checks that nothing follows.
func (r *reader) finish() error {
	r.space()
	if r.pos != len(r.data) {
		return r.errorf("there is data after the end of the value,")
	}
	return nil
}

func (r *reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the byte at the cursor, or 0 at the end.
func (r *reader) peek() byte {
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

// skip reads a value of any kind, as strictly as any other.
func (r *reader) skip() error {
	switch c := r.peek(); c {
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
	if !bytes.HasPrefix(r.data[r.pos:], []byte(word)) {
		return r.errorf("there is no value")
	}
	r.pos += len(word)
	return nil
}

// number reads a number. Its digits are never converted.
func (r *reader) number() error {
	digits := func() bool {
		from := r.pos
		for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
			r.pos++
		}
		return r.pos > from
	}
	if r.peek() == '-' {
		r.pos++
	}
	ok := true
	if r.peek() == '0' {
		r.pos++
	} else {
		ok = digits()
	}
	if ok && r.peek() == '.' {
		r.pos++
		ok = digits()
	}
	if c := r.peek(); ok && (c == 'e' || c == 'E') {
		r.pos++
		if c := r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		ok = digits()
	}
	if !ok {
		return r.errorf("a number is malformed")
	}
	return nil
}

func (r *reader) enter() error {
	if r.depth++; r.depth > maxDepth {
		return r.errorf("it is nested deeper than %d levels", maxDepth)
	}
	r.pos++
	r.space()
	return nil
}

// array reads an array; each reads one element.
func (r *reader) array(each func() error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer func() { r.depth-- }()
	if r.peek() == ']' {
		r.pos++
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		if more, err := r.more(']', "an array"); !more {
			return err
		}
	}
}

// object reads an object; each, if there is one, gets the key and reads the
// value. Two equal keys are an error.
func (r *reader) object(each func(key string) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	outer := len(r.keys)
	defer func() { r.depth--; r.keys = r.keys[:outer] }()
	if r.peek() == '}' {
		r.pos++
		return nil
	}
	var seen map[string]struct{} // of the keys, when there are many
	for {
		key, err := r.key(outer, &seen)
		if err != nil {
			return err
		}
		if each == nil {
			err = r.skip()
		} else {
			err = each(r.decode(key))
		}
		if err != nil {
			return err
		}
		if more, err := r.more('}', "an object"); !more {
			return err
		}
	}
}

// more passes over what follows an element: a comma before the next one, or the
// end of what is read.
func (r *reader) more(end byte, what string) (bool, error) {
	r.space()
	switch r.peek() {
	case ',':
		r.pos++
		r.space()
		return true, nil
	case end:
		r.pos++
		return false, nil
	default:
		return false, r.errorf("%s is not well-formed", what)
	}
}

// fewKeys is how many keys of an object are compared one by one.
const fewKeys = 16

// key reads a key and the colon behind it, and compares the key with the
// others of its object, which begin at r.keys[outer].
func (r *reader) key(outer int, seen *map[string]struct{}) (span, error) {
	if r.peek() != '"' {
		return span{}, r.errorf("a key is missing")
	}
	key, err := r.span()
	if err != nil {
		return key, err
	}
	if key.escaped && !r.wellFormed(key) {
		return key, r.errorf("a key holds half a surrogate pair or a null character")
	}
	if *seen == nil {
		for _, other := range r.keys[outer:] {
			if r.same(key, other) {
				return key, r.errorf("a key appears twice in its object")
			}
		}
		if r.keys = append(r.keys, key); len(r.keys)-outer > fewKeys {
			*seen = make(map[string]struct{}, 2*fewKeys)
			for _, other := range r.keys[outer:] {
				(*seen)[r.decode(other)] = struct{}{}
			}
			r.keys = r.keys[:outer]
		}
	} else {
		name := r.decode(key)
		if _, twice := (*seen)[name]; twice {
			return key, r.errorf("a key appears twice in its object")
		}
		(*seen)[name] = struct{}{}
	}
	r.space()
	if r.peek() != ':' {
		return key, r.errorf("a colon is missing")
	}
	r.pos++
	r.space()
	return key, nil
}
