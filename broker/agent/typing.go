package agent

import (
	"strings"
	"time"
)

// Submission is how text is typed into an agent: the steps in order, with a pause between
// them.
type Submission struct {
	Steps []string
	Pause time.Duration
}

// typed returns a Submit function for agents that treat a text with an immediate Enter as a paste:
// they get the Enter after a pause.
func typed(pause time.Duration) func(string) Submission {
	return func(text string) Submission {
		return Submission{Steps: []string{bracketed(text), "\r"}, Pause: pause}
	}
}

// pasted returns a Submit function for agents that treat fast typing as a paste: they get the text as
// a paste, and the Enter after a pause. Their own commands are typed, because they would not
// recognize pasted ones.
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

// bracketed marks text of several lines as a paste, as a terminal would. A single line stays as it
// is.
func bracketed(text string) string {
	clean := printable(text)
	if !strings.Contains(clean, "\n") {
		return clean
	}
	return pasteStart + clean + pasteEnd
}

// printable removes control characters other than newline and tab, because they would act as
// keys.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
}
