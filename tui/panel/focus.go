package panel

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// focus is one call as it stands in the panel, to be decided with one key. It holds for these
// rows of this call, for as long as they stay in the panel without a break.
type focus struct {
	item       *Item // nil: the keyboard is not in the panel
	stay, laid int   // Queue.stay and Item.laid when the person went there
	chosen     Choice
}

// Choice is what Enter would decide.
type Choice uint8

// The choices. Enter decides nothing until the person has chosen.
const (
	ChooseNothing Choice = iota
	ChooseApprove
	ChooseDeny
)

// Focus gives the keyboard to the call that is shown, which must be laid out or on the way to that.
// Only a key of the person may lead here.
func (a *Queue) Focus() {
	a.focus = focus{}
	if it := a.Current(); it != nil {
		a.Begin()
		a.focus = focus{item: it, stay: a.stay, laid: it.laid}
	}
}

// Unfocus gives the keyboard back to the command line.
func (a *Queue) Unfocus() { a.focus = focus{} }

// Focused reports whether the keyboard is in the panel, and the panel shows what it has shown since.
func (a *Queue) Focused() bool {
	it := a.focus.item
	return it != nil && a.Find(a.shown) == it && a.focus.stay == a.stay && a.focus.laid == it.laid
}

// LostFocus reports whether the keyboard was in the panel until what the panel shows changed by itself.
func (a *Queue) LostFocus() bool { return a.focus.item != nil && !a.Focused() }

// Choose sets what Enter decides.
func (a *Queue) Choose(c Choice) { a.focus.chosen = c }

// Choice returns what Enter decides.
func (a *Queue) Choice() Choice { return a.focus.chosen }

// ByKey returns the call that one key decides, or says why it does not. quiet is for how long the
// person had pressed no other key: a key that comes right behind another one may belong to a paste, to
// a word, or to a key that is held down.
func (a *Queue) ByKey(approve bool, quiet time.Duration, now time.Time, k *input.Keys) (*Item, error) {
	it := a.Current()
	switch {
	case it == nil || !a.Focused():
		return nil, fault.New("look at it first", "the call shown changed by itself, and no key decides it yet")
	case quiet < MinAge:
		return nil, fault.New("look at it, then press the key again", "#%d: the key came right behind another one, and decided nothing", it.Call.Number)
	}
	return it, a.mayDecide(it, approve, now, k)
}
