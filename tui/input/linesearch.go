package input

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// lineSearch is the search in the history of a line.
type lineSearch struct {
	on     bool
	query  string
	at     int  // in the history, of the line that is shown; its length: what was typed before
	failed bool // no older line has the query; the one found before is shown
	draft  lineState
}

// Searched is what a search has found.
type Searched uint8

// The ends of a key while the history is searched.
const (
	SearchGoesOn Searched = iota
	SearchRuns            // the line that was found is to be run or sent
	SearchEnded           // the line is edited again, or is as before the search
)

// BeginSearch lets the person search the history: each key that they type goes to what is looked
// for, and the line becomes the newest one that has it. What is looked for is kept nowhere.
func (c *Line) BeginSearch() {
	c.search = lineSearch{on: true, at: len(c.history), draft: lineState{append([]Piece(nil), c.Pieces...), c.Cursor}}
}

// Searching reports whether the history is searched.
func (c *Line) Searching() bool { return c.search.on }

// SearchPrompt returns what stands before the line while the history is searched, in a row of so
// many columns: what is looked for, and whether a line has it. It is empty at other times.
func (c *Line) SearchPrompt(columns int) string {
	if !c.search.on {
		return ""
	}
	says := "search "
	if c.search.failed {
		says = "not found "
	}
	return says + view.Clip(text.Drawable(c.search.query), max(1, columns/3)) + ": "
}

// StopSearch ends a search, if there is one, and puts back the line that was there before.
func (c *Line) StopSearch() {
	if c.search.on {
		c.restore(c.search.draft)
	}
	c.search = lineSearch{}
}

// SearchKey handles a key while the history is searched. A key that edits a line ends the search
// with the line that was found, and edits that.
func (c *Line) SearchKey(k *Keys, name, typed string) Searched {
	s := &c.search
	switch a := k.At(PlaceSearch, name); {
	case a == actSearchOlder:
		c.find(-1, s.at-1)
	case a == actSearchNewer:
		c.find(1, s.at+1)
	case a == actSearchBack:
		c.StopSearch()
		return SearchEnded
	case a == actSearchRun, a == actSearchTake:
		c.takeFound()
		if a == actSearchRun && !c.Empty() {
			return SearchRuns
		}
		return SearchEnded
	case k.At(PlaceCommand, name) == ActBackspace:
		if clusters := Clusters(s.query); len(clusters) > 0 {
			s.query = strings.Join(clusters[:len(clusters)-1], "")
		}
		c.find(-1, len(c.history)-1)
	case k.At(PlaceCommand, name) != "":
		c.takeFound()
		c.Edit(k.At(PlaceCommand, name))
		return SearchEnded
	case Printable(typed) && len(s.query) < maxQuery:
		s.query += typed
		c.find(-1, min(s.at, len(c.history)-1))
	}
	return SearchGoesOn
}

// maxQuery bounds what is looked for, in bytes.
const maxQuery = 256

// find shows the first line of the history that has the query, from place at on, in steps of step:
// -1 goes to older ones. Lines like the one that is shown are passed over. Without such a line the
// one shown stays.
func (c *Line) find(step, at int) {
	s := &c.search
	if s.failed = false; s.query == "" {
		s.at = len(c.history)
		c.restore(s.draft)
		return
	}
	shown := c.Text()
	for i := at; i >= 0 && i < len(c.history); i += step {
		line := TextOf(c.history[i].pieces)
		from := text.Index(line, s.query)
		if from < 0 || line == shown && i != s.at && s.at < len(c.history) {
			continue
		}
		s.at = i
		c.restore(c.history[i])
		c.Cursor = len(Clusters(line[:from]))
		return
	}
	s.failed = true
}

// takeFound ends the search with the line that it has found, at its end. The steps of undo lead
// back to what was typed.
func (c *Line) takeFound() {
	if at, s := c.search.at, c.search; at < len(c.history) {
		c.restore(s.draft)
		c.save()
		c.restore(c.history[at])
		c.Cursor, c.recall, c.draft = len(c.Pieces), at, s.draft
	}
	c.search = lineSearch{}
}

// Recalled reports whether the line is one of the history, which was not changed since it was recalled.
func (c *Line) Recalled() bool {
	return c.recall < len(c.history) && TextOf(c.history[c.recall].pieces) == c.Text()
}

// Replace puts what a completion has found in the place of a text before the cursor. Of what was
// typed, the beginning that stays counts as typed.
func (c *Line) Replace(typed, with string) bool {
	if rest, same := strings.CutPrefix(with, typed); same {
		return c.Complete(rest)
	}
	begin := c.Cursor - len(Clusters(typed))
	if begin < 0 || TextOf(c.Pieces[begin:c.Cursor]) != typed {
		return false
	}
	c.remove(begin, c.Cursor)
	return c.Complete(with)
}

// SearchHints says what keys do while the history is searched.
func (m *Keys) SearchHints() []string {
	return NonEmpty(m.Hint(PlaceSearch, actSearchOlder, "older"), m.Hint(PlaceSearch, actSearchRun, "runs it"), m.Hint(PlaceSearch, actSearchTake, "edits it"), m.Hint(PlaceSearch, actSearchBack, "back"))
}
