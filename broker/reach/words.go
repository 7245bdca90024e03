package reach

import (
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// How many bytes of an explanation are read, and how many of the container's output an error has.
const (
	maxSaid   = 4 << 10
	maxQuoted = 200
)

// whyNoReport returns the error of a bridge that does not begin with its report: it explains why on
// the terminal.
func whyNoReport(typed io.Reader, m link.Message) error {
	var said []byte
	for err := error(nil); err == nil && m.Kind != link.Exit && len(said) < maxSaid; m, err = link.ReadMessage(typed) {
		if m.Kind == link.Output {
			said = append(said, m.Data...)
		}
	}
	return fmt.Errorf("the container cannot report on its confinement: %s", quote(string(said)))
}

// quote makes output of the container safe to show in one line.
func quote(said string) string {
	return text.Readable(strings.Join(strings.Fields(said), " "), maxQuoted)
}

// lastWords returns the beginning of the container's output, for an error.
func (s *Stream) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.output.Len() == 0 {
		return ""
	}
	return ": " + quote(s.output.String())
}
