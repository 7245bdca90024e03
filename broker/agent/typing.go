package agent

import (
	"strings"
	"time"
)

// Submission is text as an agent wants it typed: the steps in order, with a
// pause between them.
type Submission struct {
	Steps []string
	Pause time.Duration
}

// typed is a Submit for agents that take a text and the Enter behind it in one
// burst for a paste: they get the Enter after a pause.
func typed(pause time.Duration) func(string) Submission {
	return func(text string) Submission {
		return Submission{Steps: []string{bracketed(text), "\r"}, Pause: pause}
	}
}

// pasted is a Submit for agents that take fast typing for a paste: they get the
// text as one, and the Enter after a pause. Commands of their own are typed, so
// that they are understood as such.
func pasted(pause time.Duration) func(string) Submission {
	return func(text string) Submission {
		if strings.HasPrefix(text, "/") {
			return typed(pause)(text)
		}
		return Submission{Steps: []string{pasteStart + printable(text) + pasteEnd, "\r"}, Pause: pause}
	}
}

// What a terminal puts around a paste.
const pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"

// bracketed wraps text of several lines as a paste, which is how a terminal
// would hand it over; single lines are typed as they are.
func bracketed(text string) string {
	clean := printable(text)
	if !strings.Contains(clean, "\n") {
		return clean
	}
	return pasteStart + clean + pasteEnd
}

// printable leaves out control characters other than newline and tab: they
// would be keys.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
}
