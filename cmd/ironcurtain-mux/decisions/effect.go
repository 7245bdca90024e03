package decisions

import (
	"fmt"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// effectMarks are the marks before the lines of an effect, by the kind of line.
var effectMarks = map[broker.EffectLineKind]string{
	broker.EffectNote: "  ", broker.EffectWarning: "! ", broker.EffectHunk: "", broker.EffectSame: "  ",
	broker.EffectRemoved: "- ", broker.EffectAdded: "+ ", broker.EffectItem: "* ", broker.EffectFile: "    ",
}

// printEffect prints what a waiting call would do. It is plain ASCII, because it goes to a
// terminal and contains text of files, commits and agents.
func printEffect(w io.Writer, e broker.Escalation) error {
	if e.Effect == nil {
		return nil
	}
	if e.Effect.Changed {
		if _, err := fmt.Fprintln(w, "    ! changed since it was shown: this is what it would do now"); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "    %s\n", text.ASCII(e.Effect.Summary)); err != nil {
		return err
	}
	for _, l := range e.Effect.Lines {
		if _, err := fmt.Fprintf(w, "    %s%s\n", effectMarks[l.Kind], text.ASCII(l.Text)); err != nil {
			return err
		}
	}
	if e.Effect.More > 0 {
		_, err := fmt.Fprintf(w, "    ! %d more lines are too many to show; the arguments are complete\n", e.Effect.More)
		return err
	}
	return nil
}
