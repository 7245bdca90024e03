// Package xcolor reads colors in the notations that X11 knows and that programs send to
// terminals: Parse turns text into the red, green and blue that a display shows.
// Device-independent colors, given in one of the CIE's color spaces, are computed for
// the display that Xlib assumes, as xterm does.
package xcolor

import (
	"math"
	"strconv"
	"strings"
)

// RGB is a color by its channels: red, green and blue.
type RGB [3]uint8

// colorSpaces are the notations for device-independent colors, by prefix.
var colorSpaces = map[string]func(a, b, c float64) xyz{
	"ciexyz": fromXYZ,
	"ciexyy": fromXYY,
	"cieuvy": fromUVY,
	"cielab": fromLab,
	"cieluv": fromLuv,
	"tekhvc": fromHVC,
}

// Parse reads a color in the notations of X11: #rgb with one to four digits
// each, rgb:r/g/b likewise, rgbi:r/g/b with numbers from 0 to 1, and the CIE color
// spaces. It does not know color names.
func Parse(spec string) (c RGB, ok bool) {
	if digits, ok := strings.CutPrefix(spec, "#"); ok {
		return parseHash(digits)
	}
	prefix, rest, _ := strings.Cut(spec, ":")
	parts := strings.Split(rest, "/")
	if len(parts) != 3 {
		return RGB{}, false
	}
	prefix = strings.ToLower(prefix)
	if prefix == "rgb" {
		return parseScaled(parts)
	}
	var n [3]float64
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
			return RGB{}, false
		}
		n[i] = v
	}
	if prefix == "rgbi" {
		return lightColor(n), showable(n, 0)
	}
	space, ok := colorSpaces[prefix]
	if !ok {
		return RGB{}, false
	}
	at := space(n[0], n[1], n[2])
	if sum := at.x + at.y + at.z; math.IsNaN(sum) || math.IsInf(sum, 0) || at.y < 0 || at.y > 1 {
		return RGB{}, false
	}
	return at.color(), true
}

// parseHash reads the digits after #, a third of them for each component. They are the
// component's most significant digits.
func parseHash(digits string) (c RGB, ok bool) {
	n := len(digits) / 3
	if n < 1 || n > 4 || len(digits) != 3*n {
		return RGB{}, false
	}
	var v RGB
	for i := range v {
		part, err := strconv.ParseUint(digits[i*n:(i+1)*n], 16, 16)
		if err != nil {
			return RGB{}, false
		}
		v[i] = uint8(part << 8 >> (4 * n))
	}
	return v, true
}

// parseScaled reads components of one to four digits, each scaled to its range.
func parseScaled(parts []string) (c RGB, ok bool) {
	var v RGB
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 16, 16)
		if err != nil || len(part) > 4 {
			return RGB{}, false
		}
		most := uint64(1)<<(4*len(part)) - 1
		v[i] = uint8(n * 0xffff / most >> 8)
	}
	return v, true
}
