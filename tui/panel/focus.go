package panel

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// focus is the call in the panel that one key can decide. It is valid for the rows that the panel
// showed when the person moved the keyboard there, as long as they stay in the panel without a break.
type focus struct {
	item       *Item // nil: the panel does not have the keyboard
	stay, laid int   // Queue.stay and Item.laid when the person moved the keyboard there
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

// Focus gives the keyboard to the call that is shown. The call is laid out, or being laid out. Only a
// key of the person may lead here.
func (a *Queue) Focus() {
	a.focus = focus{}
	if it := a.Current(); it != nil {
		a.Begin()
		a.focus = focus{item: it, stay: a.stay, laid: it.laid}
	}
}

// Unfocus gives the keyboard back to the command line.
func (a *Queue) Unfocus() { a.focus = focus{} }

// Focused reports whether the panel has the keyboard and still shows the same rows of the same call.
func (a *Queue) Focused() bool {
	it := a.focus.item
	return it != nil && a.Find(a.shown) == it && a.focus.stay == a.stay && a.focus.laid == it.laid
}

// LostFocus reports whether the panel had the keyboard until the rows in it changed by themselves.
func (a *Queue) LostFocus() bool { return a.focus.item != nil && !a.Focused() }

// Choose sets what Enter decides.
func (a *Queue) Choose(c Choice) { a.focus.chosen = c }

// Choice returns what Enter decides.
func (a *Queue) Choice() Choice { return a.focus.chosen }

// ByKey returns the call that one key decides, or why the key decides nothing. quiet is how long the
// person had pressed no other key before: a key right after another one may belong to a paste or a
// word, or repeat a key that is held down.
func (a *Queue) ByKey(approve bool, quiet time.Duration, now time.Time, k *input.Keys) (*Item, error) {
	it := a.Current()
	switch {
	case it == nil || !a.Focused():
		return nil, fault.New("look at it first", "the call shown changed by itself, so the key decided nothing")
	case quiet < MinAge:
		return nil, fault.New("look at it, then press the key again", "#%d: the key decided nothing, because it came right after another key", it.Call.Number)
	}
	return it, a.mayDecide(it, approve, now, k)
}
