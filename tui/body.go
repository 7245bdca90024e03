package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// rowKind says how a row of an item is drawn.
type rowKind uint8

const (
	rowPlain   rowKind = iota
	rowHeading         // what the call is
	rowChanged         // what the agent wrote, where it differs
	rowEffect          // what the call would do, summed up
	rowWarning         // what speaks against it
	rowHunk            // where the next lines stand in a file
	rowAdded           // a line that comes
	rowRemoved         // a line that goes
)

// bodyRow is one row of an item in the panel. All of it is sanitized.
type bodyRow struct {
	kind  rowKind
	label string
	text  string
}

// itemBody is an item laid out for a width; nothing of it is left out.
type itemBody struct {
	width int
	rows  []bodyRow
}

// layBody writes down everything a person has to know to judge a call: who
// asks, for what, with which arguments, how they differ from what the agent
// wrote, which rule asks for a person, and why.
func layBody(e broker.Escalation, agent string, width int) itemBody {
	b := itemBody{width: width}
	verb := "calls"
	if e.Plane == "http" {
		verb = "requests"
	}
	b.add(rowHeading, fmt.Sprintf("#%d tab %d %s ", e.Number, e.Tab, verb), view.Sanitize(e.Server)+" / "+view.Sanitize(e.Tool))
	b.add(rowPlain, "agent: ", agent)
	if e.Restored {
		b.askedBefore(e)
	}
	if why := leftToPerson(e); why != "" {
		b.add(rowPlain, "auto-approver: ", why)
	}
	b.effect(e.Effect)
	b.arguments(e)
	b.add(rowPlain, "rule: ", view.Sanitize(e.Rule))
	b.add(rowPlain, "why: ", view.Sanitize(e.Reason))
	b.add(rowPlain, "digest: ", view.Sanitize(e.Digest))
	return b
}

// askedBefore says of a call that a killed multiplexer was asked, and whether its
// agent is still there for the answer.
func (b *itemBody) askedBefore(e broker.Escalation) {
	then := "its agent waits for the answer"
	if e.Unclaimed {
		then = "its agent has not come back for it yet"
	}
	b.add(rowPlain, "asked: ", "before the restart, at "+e.AskedAt.Local().Format("15:04:05")+"; "+then)
	if e.Unclaimed {
		b.add(rowPlain, "answer: ", "is kept 5 minutes, for the same call once")
	}
}

// leftToPerson is why the automatic approval leaves a call to the person, or empty.
func leftToPerson(e broker.Escalation) string {
	if e.Auto == nil || e.Auto.Reason == "" {
		return ""
	}
	return fmt.Sprintf("leaves it to you; receipt %d: %s", e.Auto.Receipt, view.Sanitize(e.Auto.Reason))
}

// arguments adds the canonical arguments, and beside each what the agent wrote
// when that is something else.
func (b *itemBody) arguments(e broker.Escalation) {
	canonical, err := flatten(e.Arguments)
	if err != nil {
		b.add(rowPlain, "arguments: ", view.Sanitize(string(e.Arguments)))
		return
	}
	asked := map[string]string{}
	var order []field
	if len(e.Requested) > 0 {
		order, err = flatten(e.Requested)
		if err != nil {
			b.add(rowChanged, "the agent wrote: ", view.Sanitize(string(e.Requested)))
		}
	}
	for _, f := range order {
		asked[f.path] = f.value
	}
	for _, f := range canonical {
		b.add(rowPlain, labelOf(f.path), f.value)
		was, known := asked[f.path]
		switch {
		case len(order) == 0 || known && was == f.value:
		case known:
			b.add(rowChanged, "  the agent wrote: ", was)
		default:
			b.add(rowChanged, "  ", "(not written by the agent)")
		}
		delete(asked, f.path)
	}
	for _, f := range order {
		if was, left := asked[f.path]; left {
			b.add(rowChanged, "left out: "+labelOf(f.path), was)
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

// add appends a label and a text, wrapped. A label too long to stand before
// its text gets rows of its own.
func (b *itemBody) add(kind rowKind, label, text string) {
	if view.TextWidth(label) > b.width/2 {
		for _, row := range view.Wrap(label, b.width) {
			b.rows = append(b.rows, bodyRow{kind: kind, label: row})
		}
		label = ""
	}
	for i, row := range view.WrapHanging(text, b.width-view.TextWidth(label), b.width) {
		if i > 0 {
			label = ""
		}
		b.rows = append(b.rows, bodyRow{kind, label, row})
	}
}
