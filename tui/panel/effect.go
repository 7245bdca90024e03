package panel

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Effect adds what a call would do: a summary, then each line with a mark that shows its kind even
// without colors. Every text is sanitized.
func (b *Body) Effect(e *broker.Effect) {
	if e == nil {
		return
	}
	if e.Changed {
		b.Add(rowWarning, "! ", "changed since it was shown: this is what it would do now")
	}
	b.Add(rowEffect, "effect: ", text.Drawable(e.Summary))
	for _, l := range e.Lines {
		kind, mark := effectRow(l.Kind)
		b.hang(kind, mark, text.Drawable(l.Text))
	}
	if e.More > 0 {
		b.Add(rowWarning, "! ", fmt.Sprintf("%d more lines are too many to show; the arguments below are complete", e.More))
	}
}

// hang appends a line with its mark. A row that continues the line has the mark continues, so that no
// part of a long line looks like another line.
func (b *Body) hang(kind rowKind, mark, text string) {
	width := b.Width - max(view.TextWidth(mark), view.TextWidth(continues))
	for i, row := range view.Wrap(text, width) {
		if i > 0 {
			mark = continues
		}
		b.Rows = append(b.Rows, bodyRow{kind, mark, row})
	}
}

// continues marks a row that continues the line above it.
const continues = "↳ "

// effectRow returns how a line of an effect is drawn, and its mark.
func effectRow(k broker.EffectLineKind) (rowKind, string) {
	switch k {
	case broker.EffectWarning:
		return rowWarning, "! "
	case broker.EffectAdded:
		return RowAdded, "+ "
	case broker.EffectRemoved:
		return rowRemoved, "- "
	case broker.EffectHunk:
		return rowHunk, ""
	case broker.EffectItem:
		return RowPlain, "* "
	case broker.EffectFile:
		return RowPlain, "    "
	case broker.EffectSame, broker.EffectNote:
	}
	return RowPlain, "  "
}

// effectSize returns about how many bytes of an effect have to be laid out.
func effectSize(e *broker.Effect) int {
	if e == nil {
		return 0
	}
	n := len(e.Summary)
	for _, l := range e.Lines {
		n += len(l.Text) + 8
	}
	return n
}
