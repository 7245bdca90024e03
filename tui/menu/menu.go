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
	Word  string   // put on the line when the entry is chosen
	Usage string   // drawn instead of Word; empty: Word is drawn
	About string   // one line that describes the entry
	Names []string // other words that match, such as the name of a tab
	Open  bool     // no space follows, because more can be typed, as after a directory
}

// Shown returns how the entry is drawn.
func (e Entry) Shown() string {
	if e.Usage != "" {
		return e.Usage
	}
	return e.Word
}

// Match returns the entries that fit the typed text: first the entries whose word or names begin with
// it, then those that contain it, then, for three characters or more, those whose description contains
// it. It ignores case. If the text is the start of one of an entry's names, the name becomes the
// entry's word.
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

// Complete returns what Tab makes of a typed word: an entry if only one begins with the word or only
// one fits, or else the longest text with which all entries that begin with the word begin. ok is
// false if that is no longer than the typed word.
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

// Draw draws a menu. chosen is the index of the chosen entry; -1: none. If there is no room for all
// entries, the last row says how many more there are.
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
