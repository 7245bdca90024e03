package approval

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// effectMarks tell what a line of an effect is.
var effectMarks = map[preview.LineKind]string{
	preview.Warning: "! ", preview.Removed: "- ", preview.Added: "+ ", preview.Item: "* ", preview.File: "    ", preview.Hunk: "",
}

// effectText describes what a call would do, with each line escaped.
func effectText(e *preview.Effect) string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	if e.Changed {
		b.WriteString("    ! changed since it was shown: this is what it would do now\n")
	}
	fmt.Fprintf(&b, "    %s\n", text.ASCII(e.Summary))
	for _, l := range e.Lines {
		mark, known := effectMarks[l.Kind]
		if !known {
			mark = "  "
		}
		fmt.Fprintf(&b, "    %s%s\n", mark, text.ASCII(l.Text))
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "    ! %d more lines are too many to show; the arguments are complete\n", e.More)
	}
	return b.String()
}
