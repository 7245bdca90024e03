package panel

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// rowKind says how a row of an item is drawn.
type rowKind uint8

// The kinds of rows.
const (
	RowPlain   rowKind = iota
	rowHeading         // which call it is
	rowChanged         // what the agent wrote, if that differs from the canonical value
	rowEffect          // what the call would do, in one line
	rowWarning         // a reason to refuse it
	rowHunk            // where in a file the next lines are
	RowAdded           // a line that the call would add
	rowRemoved         // a line that the call would remove
)

// bodyRow is one row of an item in the panel. All of it is sanitized.
type bodyRow struct {
	Kind  rowKind
	Label string
	Text  string
}

// Body is an item laid out for a width, in full.
type Body struct {
	Width int
	Rows  []bodyRow
}

// LayBody lays out everything that a person has to know to judge a call: the agent, the tool, the
// arguments and how they differ from what the agent wrote, and the rule that escalated the call, with
// its reason.
func LayBody(e broker.Escalation, width int) Body {
	b := Body{Width: width}
	verb := "calls"
	switch e.Plane {
	case "http":
		verb = "requests"
	case "package":
		verb = "asks for packages:"
	}
	b.Add(rowHeading, fmt.Sprintf("#%d %s ", e.Number, verb), text.Drawable(e.Server)+" / "+text.Drawable(e.Tool))
	b.Add(RowPlain, "agent: ", text.Drawable(e.Agent)+" "+broker.ShortID(e.Session))
	b.program(e.Program)
	if e.Restored {
		b.askedBefore(e)
	}
	if why := leftToPerson(e); why != "" {
		b.Add(RowPlain, "auto-approver: ", why)
	}
	b.Effect(e.Effect)
	b.arguments(e)
	b.Add(RowPlain, "rule: ", text.Drawable(e.Rule))
	b.Add(RowPlain, "why: ", text.Drawable(e.Reason))
	b.Add(RowPlain, "digest: ", text.Drawable(e.Digest))
	return b
}

// program adds rows about the program that makes the call. The program's source line only helps to
// find the call. It is cut to one row, so that no row begins with text of the program.
func (b *Body) program(from *broker.ProgramCall) {
	if from == nil {
		return
	}
	what := fmt.Sprintf("call %d of program %s", from.Index, text.Drawable(from.ID))
	if from.Line == 0 {
		b.Add(RowPlain, "from: ", what)
		return
	}
	b.Add(RowPlain, "from: ", fmt.Sprintf("%s, line %d", what, from.Line))
	const label = "  it wrote: "
	b.Rows = append(b.Rows, bodyRow{rowChanged, label, view.Clip(text.Drawable(from.Source), b.Width-view.TextWidth(label))})
}

// askedBefore adds rows for a call that was escalated before the multiplexer was killed: when, and
// whether the agent waits for the answer.
func (b *Body) askedBefore(e broker.Escalation) {
	then := "its agent waits for the answer"
	if e.Unclaimed {
		then = "its agent has not asked again yet"
	}
	b.Add(RowPlain, "asked: ", "before the restart, at "+e.AskedAt.Local().Format("15:04:05")+"; "+then)
	if e.Unclaimed {
		b.Add(RowPlain, "answer: ", "is kept for 5 minutes, and counts once, for the same call")
	}
}

// leftToPerson says why the automatic approval leaves a call to the person; empty: it has not judged
// the call, or has not finished.
func leftToPerson(e broker.Escalation) string {
	if e.Auto == nil || e.Auto.Reason == "" {
		return ""
	}
	return fmt.Sprintf("leaves it to you; receipt %d: %s", e.Auto.Receipt, text.Drawable(e.Auto.Reason))
}

// arguments adds the canonical arguments, and below each of them what the agent wrote if that differs.
func (b *Body) arguments(e broker.Escalation) {
	canonical, err := flatten(e.Arguments)
	if err != nil {
		b.Add(RowPlain, "arguments: ", text.Drawable(string(e.Arguments)))
		return
	}
	asked := map[string]string{}
	var order []field
	if len(e.Requested) > 0 {
		order, err = flatten(e.Requested)
		if err != nil {
			b.Add(rowChanged, "the agent wrote: ", text.Drawable(string(e.Requested)))
		}
	}
	for _, f := range order {
		asked[f.path] = f.value
	}
	for _, f := range canonical {
		b.Add(RowPlain, labelOf(f.path), f.value)
		was, known := asked[f.path]
		switch {
		case len(order) == 0 || known && was == f.value:
		case known:
			b.Add(rowChanged, "  the agent wrote: ", was)
		default:
			b.Add(rowChanged, "  ", "(not written by the agent)")
		}
		delete(asked, f.path)
	}
	for _, f := range order {
		if was, left := asked[f.path]; left {
			b.Add(rowChanged, "left out: "+labelOf(f.path), was)
			delete(asked, f.path)
		}
	}
}

func labelOf(path string) string {
	if path == "" {
		return "arguments: "
	}
	return path + ": "
}

// Add appends a label and a text, wrapped. A label that takes more than half of the width
// gets rows of its own.
func (b *Body) Add(kind rowKind, label, text string) {
	if view.TextWidth(label) > b.Width/2 {
		for _, row := range view.Wrap(label, b.Width) {
			b.Rows = append(b.Rows, bodyRow{Kind: kind, Label: row})
		}
		label = ""
	}
	for i, row := range view.WrapHanging(text, b.Width-view.TextWidth(label), b.Width) {
		if i > 0 {
			label = ""
		}
		b.Rows = append(b.Rows, bodyRow{kind, label, row})
	}
}
