package text

import "strconv"

// Number writes a number with commas.
func Number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Counted writes how many there are of what a noun names: "1 file", "1,200 files".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}
