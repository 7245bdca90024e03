package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// excerptColumns is how much of a line an excerpt shows.
const excerptColumns = 100

// aString matches a string of JSON, with the colon behind it if it is a name.
var aString = regexp.MustCompile(`"(?:[^"\\]|\\.)*(?:"\s*:|"|$)`)

// hideValues writes asterisks over the strings of a line, because one may be a key. It leaves
// names, and the string that is marked.
func hideValues(line []byte, column, length int) {
	for _, at := range aString.FindAllIndex(line, -1) {
		if line[at[1]-1] == ':' || length > 1 && at[0] <= column && column < at[1] {
			continue
		}
		for i := at[0] + 1; i < at[1] && line[i] != '"'; i++ {
			line[i] = '*'
		}
	}
}

// excerptOf returns the line of data with the fault, and a mark below the fault's bytes. What is
// not printable ASCII is shown as a question mark, because it goes to a terminal.
func excerptOf(data []byte, at, length int) string {
	at = min(at, len(data))
	from := bytes.LastIndexByte(data[:at], '\n') + 1
	line := data[from:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	line = bytes.Clone(line)
	column := at - from
	hideValues(line, column, length)
	if cut := column - excerptColumns/2; cut > 0 {
		line, column = line[cut:], column-cut
	}
	line = line[:min(len(line), excerptColumns)]
	shown := bytes.Clone(line)
	for i, c := range shown {
		switch {
		case c == '\t' || c == '\r':
			shown[i] = ' '
		case c < ' ' || c > '~':
			shown[i] = '?'
		}
	}
	number := fmt.Sprint(1 + bytes.Count(data[:from], []byte("\n")))
	mark := strings.Repeat("^", max(1, min(length, len(shown)-column)))
	return fmt.Sprintf("  %s | %s\n  %*s | %*s%s\n", number, bytes.TrimRight(shown, " "), len(number), "", column, "", mark)
}
