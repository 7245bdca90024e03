package view

import "github.com/ironcurtain-mux/ironcurtain-mux/term"

// StyledRow is a row of text in a style, about a session that has no screen yet.
type StyledRow struct {
	Text  string
	Style term.Style
}

// StyledRows is rows of text, laid out for a width.
type StyledRows struct {
	Width int
	Rows  []StyledRow
}

// Add adds a text, wrapped between words.
func (r *StyledRows) Add(text string, style term.Style) {
	for _, row := range WrapWords(text, r.Width) {
		r.Rows = append(r.Rows, StyledRow{row, style})
	}
}

// Clip adds a text and end as one row. If they are too long, it clips the text and not end.
func (r *StyledRows) Clip(text, end string, style term.Style) {
	r.Rows = append(r.Rows, StyledRow{Clip(text, max(1, r.Width-TextWidth(end))) + end, style})
}

// AddUpTo adds a text, wrapped between words, and clips it after most rows.
func (r *StyledRows) AddUpTo(most int, text string, style term.Style) {
	before := len(r.Rows)
	r.Add(text, style)
	if len(r.Rows)-before > most {
		last := &r.Rows[before+most-1]
		last.Text = Clip(last.Text+" "+r.Rows[before+most].Text, r.Width)
		r.Rows = r.Rows[:before+most]
	}
}
