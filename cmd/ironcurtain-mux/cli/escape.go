package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Text of an agent, a file or a server is printed only through these functions,
// because the output goes to a terminal.

// PrintJSON writes a value as one line of JSON in plain ASCII.
func PrintJSON(w io.Writer, value any) error { return json.NewEncoder(ASCIIWriter{w}).Encode(value) }

// ASCIIWriter escapes everything but plain ASCII in lines of JSON and passes them on. Each
// write must consist of whole lines, as those of a slog handler do.
type ASCIIWriter struct{ To io.Writer }

func (w ASCIIWriter) Write(p []byte) (int, error) {
	if _, err := w.To.Write(jsonx.ASCII(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// SafeName makes a name safe to print: it quotes a name that is not ordinary.
func SafeName(name string) string {
	ordinary := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !ordinary(r) }) < 0 {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// SafeText makes one of our texts, whose values are quoted already, safe to print: it quotes
// the whole text unless it is plain ASCII.
func SafeText(text string) string {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return strconv.QuoteToASCII(text)
		}
	}
	return text
}

// QuotedIfAny returns an agent's text in quotes, or "" for an empty one.
func QuotedIfAny(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%+q", text)
}
