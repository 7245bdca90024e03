package menu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Entry is something that the word at the cursor can become. Its texts are sanitized.
type Entry struct {
	Word  string   // what is put on the line
	Usage string   // how it is drawn; empty: as Word
	About string   // one line about it
	Names []string // other words for it, which find it as well: the name of a tab
	Open  bool     // more can follow without a space: a directory
}

// Shown returns how the entry is drawn.
func (e Entry) Shown() string {
	if e.Usage != "" {
		return e.Usage
	}
	return e.Word
}

// Match returns the entries that fit what is typed: those that begin with it, then those that have
// it in their word or names or, when it is longer, in what is said about them. Case does not
// matter. Of an entry that is called by a name, that is the word.
func Match(typed string, all []Entry) []Entry {
	typed = strings.ToLower(typed)
	var begin, inside, about []Entry
	for _, e := range all {
		words := append([]string{e.Word}, e.Names...)
		has := func(fits func(word, typed string) bool) bool {
			return slices.ContainsFunc(words, func(w string) bool { return fits(strings.ToLower(w), typed) })
		}
		named := slices.IndexFunc(e.Names, func(w string) bool { return strings.HasPrefix(strings.ToLower(w), typed) && !strings.Contains(w, " ") })
		if named >= 0 && !strings.HasPrefix(strings.ToLower(e.Word), typed) {
			e.Word = e.Names[named]
		}
		switch {
		case has(strings.HasPrefix):
			begin = append(begin, e)
		case has(strings.Contains):
			inside = append(inside, e)
		case len(typed) > 2 && strings.Contains(strings.ToLower(e.About), typed):
			about = append(about, e)
		}
	}
	return slices.Concat(begin, inside, about)
}

// Complete returns what Tab makes of a word that fits some entries: an entry when only one begins
// with it, or only one fits; else the longest text with which all that begin with it go on. When
// that is no more than is typed, ok is false.
func Complete(typed string, found []Entry) (e Entry, ok bool) {
	begin := slices.DeleteFunc(slices.Clone(found), func(e Entry) bool { return !strings.HasPrefix(e.Word, typed) })
	switch {
	case len(begin) == 1:
		return begin[0], true
	case len(found) == 1:
		return found[0], true
	}
	var words []string
	for _, e := range begin {
		words = append(words, e.Word)
	}
	common := input.CommonPrefix(words)
	return Entry{Word: common, Open: true}, len(common) > len(typed)
}

// maxWidth is how many columns the words of a menu may take.
const maxWidth = 24

// Draw draws a menu with an entry chosen, or none for -1. When not all entries have room, the last
// row says how many there are.
func Draw(at view.Rect, all []Entry, chosen int, theme view.Theme) *view.Surface {
	box := view.NewSurface(at, theme.Body)
	room := at.H
	if len(all) > room && room > 1 {
		room--
		box.Text(3, room, fmt.Sprintf("%d more", len(all)-room), theme.Muted)
	}
	top := min(max(0, chosen-room+1), max(0, len(all)-room))
	shown := all[top:min(len(all), top+room)]
	width := 0
	for _, e := range shown {
		width = min(max(width, view.TextWidth(e.Shown())), maxWidth, at.W/2)
	}
	first := max(0, at.H-len(all))
	for i, e := range shown {
		word, about := theme.Label, theme.Muted
		if top+i == chosen {
			word, about = theme.Selection, theme.Selection
			box.Fill(first+i, word)
		}
		box.Text(3, first+i, view.ClipWords(e.Shown(), width), word)
		box.Text(width+5, first+i, view.ClipWords(e.About, max(0, at.W-width-6)), about)
	}
	box.Gutter(theme.Edge)
	return box
}
