package jsonx

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxNumber bounds the text of a number, in bytes.
const maxNumber = 64

// maxExact is the largest integer up to which every reader with 64-bit floats
// agrees with every reader with integers.
const maxExact = 1<<53 - 1

// number reads a number and keeps its text. It only changes the spelling of some whole numbers:
// some readers do not accept 1.0 and 1e0 as integers, and distinguish -0 from 0, so these become
// 1 and 0.
func (d *decoder) number() (Value, error) {
	start := d.pos
	whole, ok := d.Number()
	if !ok {
		return Value{}, d.fail(start, "malformed number")
	}
	text := string(d.Since(start))
	if d.limits.Trusted && len(text) <= maxNumber {
		return Value{Kind: Number, Text: text, Offset: start}, nil
	}
	text, reason := exactNumber(text, whole)
	if reason != "" {
		return Value{}, d.fail(start, reason)
	}
	return Value{Kind: Number, Text: text, Offset: start}, nil
}

// exactNumber returns the spelling of a number that all readers understand alike. It
// refuses numbers that readers would round differently.
func exactNumber(text string, integer bool) (exact, refusal string) {
	if integer && len(text) <= len("999999999999999") && text != "-0" {
		return text, ""
	}
	if len(text) > maxNumber {
		return "", "number is too long"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return "", "number is out of range"
	}
	if f == 0 && strings.ContainsAny(mantissa(text), "123456789") {
		return "", "number is out of range"
	}
	switch {
	case f != math.Trunc(f):
		return text, ""
	case math.Abs(f) > maxExact:
		return "", "number is too large to be exact"
	case f == 0:
		return "0", ""
	case integer:
		return text, ""
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return "", "number is too close to a whole one to be exact"
	}
	return r.Num().String(), ""
}

func mantissa(text string) string {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i]
	}
	return text
}
