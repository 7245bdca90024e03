package view

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Wrap breaks sanitized text into rows of at most width columns. It breaks after an escaped line end,
// and otherwise only when a row is full, so the joined rows are the text. A space at the end of a row
// is made visible, so that a blank after the row is never part of the text. An escape stays on one
// row unless it is wider than the row.
func Wrap(text string, width int) []string { return WrapHanging(text, width, width) }

// WrapHanging is Wrap with a first row of another width.
func WrapHanging(clean string, first, width int) []string {
	if first < 1 || width < 1 {
		return nil
	}
	var rows []string
	room, begin, used := first, 0, 0
	flush := func(end int) {
		line := clean[begin:end]
		if strings.HasSuffix(line, " ") {
			line = line[:len(line)-1] + string(text.VisibleSpace)
		}
		rows = append(rows, line)
		room, begin, used = width, end, 0
	}
	for at := 0; at < len(clean); {
		n, w := nextToken(clean[at:], min(first, width))
		if used+w > room && used > 0 {
			flush(at)
		}
		used += w
		at += n
		if n == 2 && clean[at-2:at] == `\n` {
			flush(at)
		}
	}
	if begin < len(clean) || len(rows) == 0 {
		flush(len(clean))
	}
	return rows
}

// nextToken returns the length in bytes and the width of the first character or escape of text. If an
// escape is wider than a row, it returns only the first character.
func nextToken(text string, width int) (n, w int) {
	if text[0] == '\\' {
		if n = tokenLength(text); n <= width {
			return n, n
		}
		return 1, 1
	}
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1, 1
	}
	cluster, _, w, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return len(cluster), w
}

// WrapWords breaks the multiplexer's own text into rows between words. It breaks a word
// that is wider than a row as Wrap does.
func WrapWords(text string, width int) []string {
	var rows []string
	row := ""
	for _, word := range strings.Fields(text) {
		switch {
		case row == "":
			row = word
		case TextWidth(row)+1+TextWidth(word) <= width:
			row += " " + word
		default:
			rows = append(rows, row)
			row = word
		}
		if TextWidth(row) > width {
			parts := Wrap(row, width)
			rows = append(rows, parts[:len(parts)-1]...)
			row = parts[len(parts)-1]
		}
	}
	return append(rows, row)
}

// WrapHints puts hints into rows, with a dot between two hints of a row. It wraps a hint that is longer
// than a row.
func WrapHints(hints []string, width int) []string {
	var rows []string
	row := ""
	for _, hint := range hints {
		if longer := row + " · " + hint; row != "" && TextWidth(longer) <= width {
			row = longer
			continue
		}
		if row != "" {
			rows = append(rows, row)
		}
		parts := WrapWords(hint, width)
		rows = append(rows, parts[:len(parts)-1]...)
		row = parts[len(parts)-1]
	}
	return append(rows, row)
}

// tokenLength returns the length in bytes of the first character or escape of text.
func tokenLength(text string) int {
	if text[0] != '\\' || len(text) < 2 {
		if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
			return 1
		}
		_, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		return len(text) - len(rest)
	}
	switch text[1] {
	case 'x':
		return min(4, len(text))
	case 'u':
		if end := strings.IndexByte(text, '}'); end > 0 {
			return end + 1
		}
	}
	return 2
}

// Counted writes a number and what it counts: "1 row", "2 rows".
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// TextWidth returns the number of columns that text takes.
func TextWidth(text string) int {
	for i := range len(text) {
		if !narrow(text[i]) {
			return uniseg.StringWidth(text)
		}
	}
	return len(text)
}

// narrow reports whether a byte alone is a character of one column. A combining character after it
// can change that.
func narrow(b byte) bool { return b >= ' ' && b < 0x7f }

// Clip shortens text to width columns and marks the cut with an ellipsis. It is only for
// the multiplexer's own short labels, never for text that a person has to judge.
func Clip(text string, width int) string {
	if TextWidth(text) <= width {
		return text
	}
	if width < 1 {
		return ""
	}
	var b strings.Builder
	used := 0
	state := -1
	for len(text) > 0 {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used+w > width-1 {
			break
		}
		b.WriteString(cluster)
		used += w
	}
	return b.String() + "…"
}

// ClipWords shortens a sentence as Clip does, but cuts between two words if that keeps more than half
// of the room.
func ClipWords(text string, width int) string {
	short := Clip(text, width)
	if short == text || short == "" {
		return short
	}
	short = strings.TrimSuffix(short, "…")
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 && text[len(short)] != ' ' {
		short = short[:at]
	}
	return strings.TrimRight(short, " ·,;:") + "…"
}

// FitHints joins the hints that fit into width columns, and skips hints that do not. It shortens the
// first hint if that does not fit.
func FitHints(hints []string, width int) string {
	row := ""
	for i, hint := range hints {
		if i == 0 {
			row = ClipWords(hint, width)
		} else if longer := row + " · " + hint; TextWidth(longer) <= width {
			row = longer
		}
	}
	return row
}

// TimeLeft writes a duration as minutes and seconds.
func TimeLeft(d time.Duration) string {
	if d <= 0 {
		return "0:00"
	}
	seconds := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}
