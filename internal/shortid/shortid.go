// Package shortid finds the item that a person names by its number or the beginning of its id.
package shortid

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// One is an item that a person can name.
type One struct {
	ID     string
	Number int // as the screen shows it, from 1; 0: none
}

// maxNamed is how many candidates the error of an ambiguous word names.
const maxNamed = 4

// Find returns the index of the item that a word names: by its id, by the beginning of its id, or by
// its number, which may be written with a #. kind is what the items are, such as "call". If the word
// names several items, the error lists them. If it names none, found is false.
func Find(kind, word string, all []One) (at int, found bool, err error) {
	digits, onlyNumber := strings.CutPrefix(word, "#")
	number, _ := strconv.Atoi(digits)
	prefix := strings.ToLower(word)
	var names []string
	for i, one := range all {
		switch {
		case word != "" && one.ID == word:
			return i, true, nil
		case number > 0 && one.Number == number, prefix != "" && !onlyNumber && strings.HasPrefix(one.ID, prefix):
			at = i
			names = append(names, one.String())
		}
	}
	if len(names) < 2 {
		return at, len(names) == 1, nil
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	next := "give more of the id"
	if number > 0 {
		next += ", or '#" + digits + "' for the number"
	}
	return 0, false, fault.New(next, "%q could be more than one %s: %s", word, kind, strings.Join(names, ", "))
}

// DidYouMean returns the end of an error that no id begins with word: it proposes ids with a similar
// beginning. It is empty if there are none.
func DidYouMean(word string, all []One) string {
	var begin []string
	for _, one := range all {
		if len(one.ID) >= len(word) {
			begin = append(begin, one.ID[:len(word)])
		}
	}
	return text.DidYouMean(word, begin)
}

// String returns the item's number and the beginning of its id.
func (o One) String() string {
	id := o.ID
	if len(id) > 12 {
		id = id[:12] + "…"
	}
	if o.Number == 0 {
		return id
	}
	return fmt.Sprintf("#%d (%s)", o.Number, id)
}
