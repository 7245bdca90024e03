package view

import "github.com/ironcurtain-mux/ironcurtain-mux/term"

// StyledRow is a row about a session that has no screen yet.
type StyledRow struct {
	Text  string
	Style term.Style
}

// StyledRows are laid out for a width.
type StyledRows struct {
	Width int
	Rows  []StyledRow
}

// Add wraps a text.
func (r *StyledRows) Add(text string, style term.Style) {
	for _, row := range WrapWords(text, r.Width) {
		r.Rows = append(r.Rows, StyledRow{row, style})
	}
}

// Clip adds one row, whatever the text's length; the end is shown in full.
func (r *StyledRows) Clip(text, end string, style term.Style) {
	r.Rows = append(r.Rows, StyledRow{Clip(text, max(1, r.Width-TextWidth(end))) + end, style})
}

// AddUpTo wraps a text over so many rows at most.
func (r *StyledRows) AddUpTo(most int, text string, style term.Style) {
	before := len(r.Rows)
	r.Add(text, style)
	if len(r.Rows)-before > most {
		last := &r.Rows[before+most-1]
		last.Text = Clip(last.Text+" "+r.Rows[before+most].Text, r.Width)
		r.Rows = r.Rows[:before+most]
	}
}
