package reach

import (
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// How much of an explanation is read, and how much of the container's words is in an error, in bytes.
const (
	mostSaid   = 4 << 10
	mostQuoted = 200
)

// unable returns why a bridge does not begin with what it sees: it says so on the terminal.
func unable(typed io.Reader, m link.Message) error {
	var said []byte
	for err := error(nil); err == nil && m.Kind != link.Exit && len(said) < mostSaid; m, err = link.ReadMessage(typed) {
		if m.Kind == link.Output {
			said = append(said, m.Data...)
		}
	}
	return fmt.Errorf("the container cannot say what it sees: %s", quote(string(said)))
}

// quote makes words of the container's fit for a line that a person reads.
func quote(said string) string {
	return text.Readable(strings.Join(strings.Fields(said), " "), mostQuoted)
}

// lastWords returns the beginning of what the container's programs wrote, for an error.
func (s *Stream) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.output.Len() == 0 {
		return ""
	}
	return ": " + quote(s.output.String())
}
