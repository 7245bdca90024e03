package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// Meant shows the item with a number and returns it. Without a number, it returns the item shown.
func (a *Queue) Meant(which string, now time.Time) (*Item, error) {
	it := a.Current()
	if n, ok := input.Number(which); ok {
		if it = a.Numbered(n); it == nil {
			return nil, a.unknown(n)
		}
		a.choose(it.Call.ID, now)
	}
	if it == nil {
		return nil, ErrNothing
	}
	return it, nil
}

// Remember reads the arguments of a grant: a scope of the item and perhaps a time.
func (it *Item) Remember(words []string) (*broker.Remember, error) {
	r := &broker.Remember{Scope: strings.ToLower(words[0])}
	var names []string
	for _, s := range it.Scopes {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, r.Scope) {
		return nil, fmt.Errorf("#%d has no scope %s; its scopes: %s%s", it.Call.Number, text.Drawable(words[0]), it.ScopeNames(), text.DidYouMean(r.Scope, names))
	}
	if len(words) > 1 {
		d, err := timespan.Parse(strings.Join(words[1:], " "))
		if err != nil {
			return nil, err
		}
		if d < time.Second {
			return nil, fault.New("give at least 1s", "%s is too short", text.Drawable(strings.Join(words[1:], " ")))
		}
		r.Seconds = int(d / time.Second)
	}
	return r, nil
}

// ScopeNames lists the scopes for which an approval of the item can be remembered.
func (it *Item) ScopeNames() string {
	var names []string
	for _, s := range it.Scopes {
		names = append(names, text.Drawable(s.Name))
	}
	return strings.Join(names, ", ")
}

// scopes adds rows that say in full which calls each scope would let through.
func (b *Body) scopes(list []broker.Scope) {
	if len(list) == 0 {
		return
	}
	b.Add(rowHeading, "", "/approve+ SCOPE [TIME] also allows these later calls, for 15m without a TIME:")
	for _, s := range list {
		past := fmt.Sprintf(" (%d of %d past calls)", s.Matched, s.Past)
		b.Add(RowPlain, text.Drawable(s.Name)+": ", text.Drawable(s.Text)+past)
	}
}
