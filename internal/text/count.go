package text

import (
	"fmt"
	"strconv"
)

// Number formats a number with commas between groups of three digits.
func Number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Counted formats a number with its noun: "1 file", "1,200 files".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// Size formats a number of bytes for people.
func Size(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= unit.bytes {
			return strconv.FormatFloat(float64(n)/float64(unit.bytes), 'f', 1, 64) + " " + unit.name
		}
	}
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
