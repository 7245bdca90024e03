package jsonx

import (
	"math"
	"strconv"
	"strings"
)

// maxNumber bounds the text of a number; no honest one is longer.
const maxNumber = 64

// maxExact is the largest integer up to which every reader with 64-bit floats
// agrees with every reader with integers.
const maxExact = 1<<53 - 1

// number reads a number and keeps its text.
func (d *decoder) number() (Value, error) {
	start := d.pos
	if d.peek() == '-' {
		d.pos++
	}
	integer := true
	switch {
	case d.peek() == '0':
		d.pos++
	case !d.digits():
		return Value{}, d.fail(start, "malformed number")
	}
	if d.peek() == '.' {
		integer = false
		d.pos++
		if !d.digits() {
			return Value{}, d.fail(start, "malformed number")
		}
	}
	if c := d.peek(); c == 'e' || c == 'E' {
		integer = false
		d.pos++
		if c := d.peek(); c == '+' || c == '-' {
			d.pos++
		}
		if !d.digits() {
			return Value{}, d.fail(start, "malformed number")
		}
	}
	text := string(d.data[start:d.pos])
	if d.limits.Trusted && len(text) <= maxNumber {
		return Value{Kind: Number, Text: text, Offset: start}, nil
	}
	if reason := checkNumber(text, integer); reason != "" {
		return Value{}, d.fail(start, reason)
	}
	return Value{Kind: Number, Text: text, Offset: start}, nil
}

func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] >= '0' && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}

// checkNumber refuses numbers that readers would round, each in its own way.
func checkNumber(text string, integer bool) string {
	if len(text) > maxNumber {
		return "number is too long"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return "number is out of range"
	}
	if f == 0 && strings.ContainsAny(mantissa(text), "123456789") {
		return "number is out of range"
	}
	if math.Abs(f) > maxExact && (integer || f == math.Trunc(f)) {
		return "number is too large to be exact"
	}
	return ""
}

func mantissa(text string) string {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i]
	}
	return text
}
