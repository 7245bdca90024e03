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
	at     int  // index in the history of the line shown; len(history) for the line before the search
	failed bool // no further line has the query; the one found before it is shown
	draft  lineState
}

// Searched is the effect of a key on the search of the history.
type Searched uint8

// The effects of a key.
const (
	SearchGoesOn Searched = iota
	SearchRuns            // it has ended, and the caller runs or sends the line that was found
	SearchEnded           // it has ended, and the line is edited again
)

// BeginSearch starts a search of the history: typed keys extend the query, and the line becomes the
// newest one that contains it. The query is not stored.
func (c *Line) BeginSearch() {
	c.search = lineSearch{on: true, at: len(c.history), draft: lineState{append([]Piece(nil), c.Pieces...), c.Cursor}}
}

// Searching reports whether the history is searched.
func (c *Line) Searching() bool { return c.search.on }

// SearchPrompt returns the text to show before the line during a search, in a row of this many
// columns: the query, and whether a line contains it. Without a search it is empty.
func (c *Line) SearchPrompt(columns int) string {
	if !c.search.on {
		return ""
	}
	label := "search "
	if c.search.failed {
		label = "not found "
	}
	return label + view.Clip(text.Drawable(c.search.query), max(1, columns/3)) + ": "
}

// StopSearch ends a search, if there is one, and puts back the line that was there before.
func (c *Line) StopSearch() {
	if c.search.on {
		c.restore(c.search.draft)
	}
	c.search = lineSearch{}
}

// SearchKey handles a key while the history is searched. An editing key ends the search and edits
// the line that was found.
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

// maxQuery bounds the query, in bytes.
const maxQuery = 256

// find shows the first line of the history that contains the query, from index at on, in steps of
// step; -1 goes to older lines. It skips lines that equal the one shown. If it finds none, the line
// shown stays.
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

// takeFound ends the search and keeps the line that it has found, with the cursor at the end. Undo
// returns to the line before the search.
func (c *Line) takeFound() {
	if at, s := c.search.at, c.search; at < len(c.history) {
		c.restore(s.draft)
		c.save()
		c.restore(c.history[at])
		c.Cursor, c.recall, c.draft = len(c.Pieces), at, s.draft
	}
	c.search = lineSearch{}
}

// Recalled reports whether the line was recalled from the history and not changed since then.
func (c *Line) Recalled() bool {
	return c.recall < len(c.history) && TextOf(c.history[c.recall].pieces) == c.Text()
}

// Replace replaces the text typed before the cursor by what a completion has found. If that begins
// with the typed text, the beginning still counts as typed.
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

// SearchHints returns hints at the keys of the search.
func (m *Keys) SearchHints() []string {
	return NonEmpty(m.Hint(PlaceSearch, actSearchOlder, "older"), m.Hint(PlaceSearch, actSearchRun, "runs it"), m.Hint(PlaceSearch, actSearchTake, "edits it"), m.Hint(PlaceSearch, actSearchBack, "back"))
}
