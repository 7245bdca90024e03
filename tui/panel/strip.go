package panel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// InStrip returns the call that the strip shows, and how many others wait. The strip shows the oldest
// call of a session, or else the oldest of all. It shows no call that was put aside, and a call whose
// decision is under way does not count as waiting. A call that was only in the strip does not count
// as seen.
func (a *Queue) InStrip(session broker.SessionID) (it *Item, others int) {
	waiting := -1
	for _, x := range a.Items {
		if x.Sent {
			continue
		}
		waiting++
		if !x.aside && (it == nil || it.Call.Session != session && x.Call.Session == session) {
			it = x
		}
	}
	return it, waiting
}

// PutAside hides the waiting calls from the strip, except calls that are so new that the person cannot
// have meant them.
func (a *Queue) PutAside(now time.Time) {
	for _, it := range a.Items {
		it.aside = it.aside || now.Sub(it.Call.AskedAt) >= MinAge
	}
}

// Aside returns the IDs of the calls that were put aside.
func (a *Queue) Aside() (ids []string) {
	for _, it := range a.Items {
		if it.aside {
			ids = append(ids, it.Call.ID)
		}
	}
	return ids
}

// TakeAside puts aside the calls that were put aside in the former view, also those that are added
// later.
func (a *Queue) TakeAside(ids []string) {
	a.former = ids
	for _, it := range a.Items {
		it.aside = it.aside || slices.Contains(ids, it.Call.ID)
	}
}

// Strip is one call as the strip shows it: short, and clipped where there is no room.
type Strip struct {
	Item   *Item
	Tab    string // names its tab, or its session if there is no tab
	Others int    // how many other calls wait
}

// leastDetail is how many columns a clipped detail must have to be worth showing.
const leastDetail = 12

// Draw draws the strip over the last rows of an area: one row if everything fits into it, and
// otherwise at most most rows.
func (s Strip) Draw(area view.Rect, most int, theme view.Theme, now time.Time) *view.Surface {
	width := area.W - 2
	details := details(s.Item.Call)
	heads := s.heads(now)
	one := heads[0]
	for _, row := range details {
		one += " · " + rowText(row)
	}
	if most > 1 && view.TextWidth(one) > width && len(details) > 0 {
		if room := most - 1; len(details) > room {
			details = [][]field{slices.Concat(details...)}
		}
		return s.rows(area, s.head(heads, width, now), details, theme)
	}
	if view.TextWidth(one) > width {
		head := s.head(heads, width, now)
		one = head
		if room := width - view.TextWidth(head) - 3; room >= leastDetail && len(details) > 0 {
			one += " · " + view.Clip(rowText(slices.Concat(details...)), room)
		}
	}
	return s.rows(area, one, nil, theme)
}

// rows draws the head, and the details below it.
func (s Strip) rows(area view.Rect, head string, details [][]field, theme view.Theme) *view.Surface {
	h := 1 + len(details)
	out := view.NewSurface(view.Rect{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}, theme.Body)
	out.Waiting(head, out.At.W+1, theme)
	for i, row := range details {
		drawDetails(out, 1+i, row, theme)
	}
	return out
}

// drawDetails draws fields in a row. When they do not fit, each is clipped to its share, so
// that no long value pushes another one out.
func drawDetails(out *view.Surface, y int, row []field, theme view.Theme) {
	width := out.At.W - 2
	share := width
	if view.TextWidth(rowText(row)) > width {
		share = max(1, (width-2*(len(row)-1))/len(row))
	}
	x := 1
	for _, f := range row {
		label := view.Clip(f.path+": ", share)
		value := view.Clip(f.value, share-view.TextWidth(label))
		style := theme.Body
		if f.path == effectLabel {
			style.Attr |= term.Bold
		}
		x = out.Text(x, y, label, theme.Label)
		x = out.Sanitized(x, y, value, style, theme.Escape) + 2
	}
}

// rowText returns the text of a row of details.
func rowText(row []field) string {
	var parts []string
	for _, f := range row {
		parts = append(parts, f.path+": "+f.value)
	}
	return strings.Join(parts, "  ")
}

// heads returns the wordings of the first row, the longest first.
func (s Strip) heads(now time.Time) []string {
	e := s.Item.Call
	tool, server := text.Drawable(text.Clip(e.Tool, maxName)), text.Drawable(text.Clip(e.Server, maxName))
	left := view.TimeLeft(e.ExpiresAt.Sub(now))
	number, tab := fmt.Sprintf("#%d", e.Number), s.Tab
	who := strings.Join(input.NonEmpty(tab, text.Drawable(e.Agent)), " ")
	others, more := "", ""
	if s.Others > 0 {
		others, more = fmt.Sprintf("%d more waiting", s.Others), fmt.Sprintf("+%d", s.Others)
	}
	join := func(between string, parts ...string) string { return strings.Join(input.NonEmpty(parts...), between) }
	return []string{
		join(" · ", number+" waits", who, server+"/"+tool, left+" left", others),
		join(" · ", number, who, server+"/"+tool, left, more),
		join(" ", number, who, tool, left, more),
		join(" ", number, tab, tool, left, more),
	}
}

// head returns the longest first row that fits or, if none does, the tab, as much of the tool's name
// as there is room for, and the time.
func (s Strip) head(heads []string, width int, now time.Time) string {
	for _, h := range heads {
		if view.TextWidth(h) <= width {
			return h
		}
	}
	e := s.Item.Call
	before, behind := s.Tab+" ", " "+view.TimeLeft(e.ExpiresAt.Sub(now))
	if s.Others > 0 {
		behind += fmt.Sprintf(" +%d", s.Others)
	}
	room := width - view.TextWidth(before+behind)
	return before + view.Clip(text.Drawable(text.Clip(e.Tool, maxName)), room) + behind
}

// maxName is how many bytes of a name the strip uses.
const maxName = 256

// effectLabel is the label of the effect.
const effectLabel = "effect"

// details returns what a call is about: its target and its effect. It omits a target that the effect
// names.
func details(e broker.Escalation) [][]field {
	effect := ""
	if e.Effect != nil {
		effect = text.Drawable(text.Clip(e.Effect.Summary, LayBytes))
	}
	named := func(f field) bool {
		return slices.ContainsFunc(strings.Fields(effect), func(word string) bool {
			return strings.TrimRight(word, ":,;") == strings.Trim(f.value, `"`)
		})
	}
	var out [][]field
	if target := slices.DeleteFunc(target(e.Arguments), named); len(target) > 0 {
		out = append(out, target)
	}
	if effect != "" {
		out = append(out, []field{{effectLabel, effect}})
	}
	return out
}

// targets are the names of arguments that say what a call is about.
var targets = []string{
	"path", "paths", "source", "destination", "url", "uri", "host", "domain", "remote", "branch", "command",
}

// maxTarget is how many arguments the strip shows at most.
const maxTarget = 4

// target returns the canonical arguments that say what a call is about or, if none has such a name,
// the first ones. It reads at most LayBytes.
func target(arguments json.RawMessage) []field {
	d := json.NewDecoder(bytes.NewReader(arguments[:min(len(arguments), LayBytes)]))
	d.UseNumber()
	var all []field
	_ = flattenValue(d, "", &all) // an error only means that long or broken arguments are incomplete
	var out []field
	for _, f := range all {
		name, _, _ := strings.Cut(f.path, "[")
		if slices.Contains(targets, name) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		out = all
	}
	out = out[:min(len(out), maxTarget)]
	for i := range out {
		out[i].path = cmp.Or(out[i].path, "arguments")
	}
	return out
}
