package copymode

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// marginLines is how many lines of our own are above and below an agent's text in an
// editor. Editors obey instructions that they find near the ends of a file, vi in the
// first and last five lines, so none of these lines may be the agent's. Emacs searches
// upward from the end of a file as far as the last form feed, so we write one below the
// agent's text.
const marginLines = 5

// ScrollbackText returns all lines of a screen as text, with wrapped lines joined again.
// at is the number of the line of text that contains the given line of the screen.
func ScrollbackText(screen *term.Screen, heading string, line int) (text []byte, at int) {
	var b bytes.Buffer
	b.WriteString(heading)
	b.WriteString(strings.Repeat("\n", marginLines))
	total, number, body := screen.LineCount(), marginLines+1, b.Len()
	end := body // after the last line that is not empty
	at = number
	for i := range total {
		if i == line {
			at = number
		}
		cells, wrapped := screen.Line(i)
		row := view.CellText(cells)
		if !wrapped {
			row = strings.TrimRight(row, " ") + "\n"
			number++
		}
		b.WriteString(row)
		if row != "\n" {
			end = b.Len()
		}
	}
	b.Truncate(end)
	if end > body && b.Bytes()[end-1] != '\n' {
		b.WriteByte('\n')
	}
	lines := bytes.Count(b.Bytes(), []byte("\n"))
	b.WriteString("\f" + strings.Repeat("\n", marginLines+1))
	return b.Bytes(), min(at, max(marginLines+1, lines))
}

// EditorAt returns the command line of the person's editor. For editors that are known to
// take a line number, it tells them to begin at that line.
func EditorAt(getenv func(string) string, line int) ([]string, error) {
	argv := strings.Fields(cmp.Or(strings.TrimSpace(getenv("VISUAL")), getenv("EDITOR")))
	for _, name := range []string{"editor", "vi", "nano"} {
		if len(argv) > 0 {
			break
		}
		if path, err := exec.LookPath(name); err == nil {
			argv = []string{path}
		}
	}
	if len(argv) == 0 {
		return nil, fault.New("set EDITOR to the name of an editor", "there is no editor")
	}
	switch filepath.Base(argv[0]) {
	case "vi", "vim", "nvim", "view", "editor", "nano", "emacs", "emacsclient", "less", "micro", "kak", "joe", "jed", "mg":
		argv = append(argv, fmt.Sprintf("+%d", line))
	}
	return argv, nil
}
