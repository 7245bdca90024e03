package term

import (
	"encoding/binary"
	"errors"
	"unicode"
	"unicode/utf8"
)

// archive is a saved screen on its way to bytes or back. Its methods save a value, or
// load it in place, so that one list of fields serves both. A value out of its bounds is
// an error in both directions, and after an error the methods do nothing.
type archive struct {
	loading bool
	data    []byte // saved so far, or not yet loaded
	err     error
}

var errDamaged = errors.New("the saved screen is damaged")

// fail refuses the screen.
func (a *archive) fail() {
	a.err = errDamaged
	a.data = nil
}

// check refuses the screen unless ok.
func (a *archive) check(ok bool) {
	if !ok {
		a.fail()
	}
}

// integer is a kind of number in the emulator's state.
type integer interface {
	~int | ~int32 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// archiveInt saves or loads a number from low to high.
func archiveInt[T integer](a *archive, v *T, low, high T) {
	if !a.loading && *v >= low && *v <= high {
		a.data = binary.AppendUvarint(a.data, uint64(*v-low))
		return
	}
	n, size := binary.Uvarint(a.data)
	if !a.loading || size <= 0 || n > uint64(high-low) {
		a.fail()
		return
	}
	a.data = a.data[size:]
	*v = low + T(n)
}

// archiveList saves or loads the length of a list that has at least min bytes for each
// element, and gives the list that length.
func archiveList[T any](a *archive, list *[]T, least, most int) {
	n := len(*list)
	if a.loading {
		most = min(most, len(a.data)/least)
	}
	archiveInt(a, &n, 0, most)
	if a.loading && a.err == nil {
		*list = make([]T, n)
	}
}

func (a *archive) flag(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	archiveInt(a, &n, 0, 1)
	if a.loading {
		*v = n == 1
	}
}

func (a *archive) color(c *Color) {
	archiveInt(a, c, 0, colorRGB|0xffffff)
	a.check(c.valid())
}

// valid reports whether c is a color that the functions of this package make.
func (c Color) valid() bool {
	switch c >> 24 {
	case 0:
		return c == 0
	case 1:
		return c <= colorPalette|0xff
	}
	return c>>24 == 2
}

// bytes saves or loads up to most bytes. What it loads is a part of the saved screen.
func (a *archive) bytes(v *[]byte, most int) {
	n := len(*v)
	archiveInt(a, &n, 0, most)
	switch {
	case a.err != nil:
	case !a.loading:
		a.data = append(a.data, *v...)
	case n > len(a.data):
		a.fail()
	default:
		*v = a.data[:n:n]
		a.data = a.data[n:]
	}
}

// text saves or loads a string without control characters.
func (a *archive) text(v *string, most int) {
	b := []byte(*v)
	a.bytes(&b, most)
	a.check(printable(b))
	if a.loading && a.err == nil {
		*v = string(b)
	}
}

// printable reports whether b is text without control characters.
func printable(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 || unicode.IsControl(r) {
			return false
		}
		b = b[size:]
	}
	return true
}
