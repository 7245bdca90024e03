package panel

import (
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Look is how the panel is drawn, and when.
type Look struct {
	Theme  view.Theme
	Phrase string // the phrase that only this program knows; empty: none
	Note   string // below the title: what the phrase is for; empty: no note
	Now    time.Time
	Seq    uint64 // the number of the scene
}

// Draw draws as many rows of the current item as there is room for, and notes which rows the scene
// shows. report asks the compositor to report when the scene is painted.
func (a *Queue) Draw(at view.Rect, l Look) (panel *view.Surface, report bool) {
	it := a.Current()
	first := 1
	if l.Note != "" {
		first = 2
	}
	rows := at.H - first
	total := len(it.Body.Rows)
	a.Scroll = min(max(0, a.Scroll), max(0, total-rows))
	from, to := a.Scroll, min(total, a.Scroll+rows)

	panel = view.NewSurface(at, l.Theme.Body)
	missed := 0
	for _, seen := range it.seen[:from] {
		if !seen {
			missed++
		}
	}
	a.drawTitle(panel, it, l, total-to, missed)
	for i := from; i < to; i++ {
		it.Body.Rows[i].draw(panel, first+i-from, l.Theme)
	}
	if first > 1 {
		panel.Text(1, 1, l.Note, l.Theme.Label)
	}
	if total == 0 {
		panel.Text(1, first, "reading a large call", l.Theme.Body)
		return panel, false
	}
	if it.Since.IsZero() || !it.Complete {
		if a.drawn == nil {
			a.drawn = map[uint64]drawnRows{}
		}
		a.drawn[l.Seq] = drawnRows{it.Call.ID, a.stay, it.laid, from, to}
		return panel, true
	}
	return panel, false
}

// drawTitle draws the title and the phrase that only this program knows. A long title is
// worded shorter to leave room for the phrase.
func (a *Queue) drawTitle(panel *view.Surface, it *Item, l Look, below, missed int) {
	phrase := l.Phrase
	room := panel.At.W - 2
	if phrase != "" {
		room -= view.TextWidth(phrase) + 2
	}
	title := ""
	for _, form := range panelTitleForms {
		if title = a.title(form, it, l.Now, below, missed); view.TextWidth(title) <= room {
			break
		}
	}
	end := panel.At.W + 1
	if phrase != "" && 1+view.TextWidth(title)+2+view.TextWidth(phrase) < panel.At.W {
		end = panel.Right(panel.At.W-1, phrase, l.Theme.Title)
	}
	panel.Waiting(title, end, l.Theme)
}

// panelTitleForm is how the title of the panel is worded.
type panelTitleForm struct{ number, left, judging, below, missed, between string }

// panelTitleForms are the wordings, the longest first.
var panelTitleForms = []panelTitleForm{
	{"approval %d/%d", "%s left", "auto-approver is judging %ds", "%d more ↓", "%d not shown ↑", " · "},
	{"approval %d/%d", "%s", "auto-approver judges %ds", "%d↓", "%d?↑", " · "},
	{"%d/%d", "%s", "judged %ds", "%d↓", "%d?↑", " "},
}

// title returns the number of the call among all that wait, how much time is left to decide, and how
// many rows are below or were skipped.
func (a *Queue) title(f panelTitleForm, it *Item, now time.Time, below, missed int) string {
	parts := []string{
		fmt.Sprintf(f.number, a.index(it)+1, len(a.Items)),
		fmt.Sprintf(f.left, view.TimeLeft(it.Call.ExpiresAt.Sub(now))),
	}
	if look := it.Call.Auto; look != nil && look.Reason == "" {
		parts = append(parts, fmt.Sprintf(f.judging, max(0, int(now.Sub(look.Since).Seconds()))))
	}
	switch {
	case below > 0:
		parts = append(parts, fmt.Sprintf(f.below, below))
	case missed > 0 && !it.Complete:
		parts = append(parts, fmt.Sprintf(f.missed, missed))
	}
	if n := a.alike(it); n > 0 {
		parts = append(parts, fmt.Sprintf("%d alike", n))
	}
	if n := it.Call.More; n > 0 {
		parts = append(parts, fmt.Sprintf("+%d like it refused", n))
	}
	if it.Sent {
		parts = append(parts, "sent")
	}
	return strings.Join(parts, f.between)
}

// draw draws one row of an item. Escapes have a style of their own.
func (row bodyRow) draw(panel *view.Surface, y int, theme view.Theme) {
	text, label := theme.Body, theme.Label
	switch row.Kind {
	case rowChanged:
		text = theme.Changed
	case rowHeading, rowEffect:
		text.Attr |= term.Bold
	case rowWarning:
		text, label = theme.Escape, theme.Escape
	case rowHunk:
		text = theme.Label
	case RowAdded:
		text, label = theme.Added, theme.Added
	case rowRemoved:
		text, label = theme.Removed, theme.Removed
	case RowPlain:
	}
	x := panel.Text(1, y, row.Label, label)
	panel.Sanitized(x, y, row.Text, text, theme.Escape)
}
