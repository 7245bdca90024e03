package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// What an agent, a file or a server wrote is printed through one of these, since
// it goes to a terminal.

// escaped writes out every character that could disturb a terminal or a reader.
func escaped(s string) string {
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
}

// asciiJSON is JSON text of the same meaning without any character that could
// disturb a terminal or a reader: what is not plain ASCII stands in strings
// only, where it can be escaped.
func asciiJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == '\n' || r >= ' ' && r < 0x7f:
			out = append(out, raw[0])
		case r < ' ':
			out = append(out, ' ') // between two tokens; inside a string it is escaped already
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[n:]
	}
	return out
}

// asciiWriter passes lines of JSON on without anything but plain ASCII. Each
// write must hold whole lines, as those of a slog handler do.
type asciiWriter struct{ to io.Writer }

func (w asciiWriter) Write(p []byte) (int, error) {
	if _, err := w.to.Write(asciiJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// safeName is a name as it may be printed: quoted unless it is ordinary.
func safeName(name string) string {
	ordinary := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !ordinary(r) }) < 0 {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// safeText is a text of ours whose values are quoted already, as it may be
// printed: as it is when it is plain ASCII, else quoted as a whole.
func safeText(text string) string {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return strconv.QuoteToASCII(text)
		}
	}
	return text
}

// quotedIfAny is an agent's text in quotes, or nothing when there is none.
func quotedIfAny(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q", text)
}
