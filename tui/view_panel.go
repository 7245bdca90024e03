package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// panelRect is where the panel and the command line are drawn.
func (m *Model) panelRect() (panel, line view.Rect) {
	want := 0
	if it := m.approvals.current(); it != nil && m.mode == modeCommand {
		m.ensureBody(it)
		want = 1 + max(1, len(it.body.rows))
	}
	l := m.lay
	message, _ := m.messageRows()
	l.Viewport.H -= len(message)
	return l.Overlay(want, len(m.inputRows()))
}

// panelGoesOn reports whether the panel has more rows than it shows, or some that have
// not been seen.
func (m *Model) panelGoesOn() bool {
	it := m.approvals.current()
	panel, _ := m.panelRect()
	return it != nil && len(it.body.rows) > panel.H-1
}

// panelFits reports whether there is room for a panel that can be read.
func (m *Model) panelFits() bool {
	if !m.fits {
		return false
	}
	panel, _ := m.lay.Overlay(2, 1)
	return panel.H >= 2
}

// ensureBody lays the item out for the present width.
func (m *Model) ensureBody(it *pendingItem) {
	width := max(1, m.lay.Viewport.W-2)
	if it.body.width == width || it.laying == width {
		return
	}
	it.unlay()
	agent := ""
	if t := m.tabOf(it.call.Session); t != nil {
		agent = view.Sanitize(t.session.Agent)
	}
	call := it.call
	if len(call.Arguments)+len(call.Requested)+len(call.Reason)+effectSize(call.Effect) <= layAtOnce {
		it.lay(layBody(call, agent, width))
		return
	}
	it.laying = width
	m.later = join(m.later, m.do(func(context.Context) tea.Msg {
		return laidOutMsg{call.ID, layBody(call, agent, width)}
	}))
}

// layAtOnce is how many bytes of a call are laid out within the event loop;
// more would be felt, and is done beside it.
const layAtOnce = 16 << 10

// unlay drops an item's rows, which have to be made anew, and looked at anew.
func (it *pendingItem) unlay() {
	it.body, it.seen, it.laying = itemBody{}, nil, 0
	it.laid++
	it.since, it.looked = time.Time{}, false
}

// lay takes over an item's rows.
func (it *pendingItem) lay(b itemBody) {
	b.scopes(it.scopes)
	it.body, it.laying = b, 0
	it.seen = make([]bool, len(b.rows))
}

// onLaid takes over the rows of a large item.
func (m *Model) onLaid(msg laidOutMsg) {
	if it := m.approvals.find(msg.id); it != nil && it.laying == msg.body.width {
		it.lay(msg.body)
		m.dirty = true
	}
}

// drawPanel draws the item that waits, as much of it as there is room for, and
// notes which of its rows the scene shows.
func (m *Model) drawPanel(s *view.Scene, at view.Rect) {
	it := m.approvals.current()
	if it == nil || at.H < 2 {
		m.approvals.hide()
		return
	}
	m.ensureBody(it)
	a := &m.approvals
	rows := at.H - 1
	total := len(it.body.rows)
	a.scroll = min(max(0, a.scroll), max(0, total-rows))
	from, to := a.scroll, min(total, a.scroll+rows)

	panel := view.NewSurface(at, m.theme.Body)
	missed := 0
	for _, seen := range it.seen[:from] {
		if !seen {
			missed++
		}
	}
	m.drawPanelTitle(panel, it, total-to, missed)
	for i := from; i < to; i++ {
		m.drawBodyRow(panel, 1+i-from, it.body.rows[i])
	}
	s.Layers = append(s.Layers, panel)
	if total == 0 {
		panel.Text(1, 1, "reading a large call", m.theme.Body)
		return
	}
	if it.since.IsZero() || !it.complete {
		if a.drawn == nil {
			a.drawn = map[uint64]drawnRows{}
		}
		a.drawn[m.seq] = drawnRows{it.call.ID, a.stay, it.laid, from, to}
		s.Report = true
	}
}

// drawPanelTitle draws the title and the phrase only this program knows, which
// has its place before any longer wording.
func (m *Model) drawPanelTitle(panel *view.Surface, it *pendingItem, below, missed int) {
	panel.Fill(0, m.theme.Title)
	phrase := m.o.Phrase
	room := panel.At.W - 2
	if phrase != "" {
		room -= view.TextWidth(phrase) + 2
	}
	title := ""
	for _, form := range panelTitleForms {
		if title = m.panelTitle(form, it, below, missed); view.TextWidth(title) <= room {
			break
		}
	}
	x := panel.Text(1, 0, title, m.theme.Title)
	if phrase != "" && x+2+view.TextWidth(phrase) < panel.At.W {
		panel.Right(panel.At.W-1, phrase, m.theme.Title)
	}
}

// panelTitleForm is how the title of the panel is worded.
type panelTitleForm struct{ number, left, judging, below, missed, between string }

// panelTitleForms are the wordings, the longest first.
var panelTitleForms = []panelTitleForm{
	{"approval %d/%d", "%s left", "auto-approver is judging %ds", "%d more ↓", "%d not shown ↑", " · "},
	{"approval %d/%d", "%s", "auto-approver judges %ds", "%d↓", "%d?↑", " · "},
	{"%d/%d", "%s", "judged %ds", "%d↓", "%d?↑", " "},
}

// panelTitle says which call this is of how many, how long there is to decide, and
// how much of it is below or was jumped over.
func (m *Model) panelTitle(f panelTitleForm, it *pendingItem, below, missed int) string {
	a := &m.approvals
	parts := []string{
		fmt.Sprintf(f.number, a.index(it)+1, len(a.items)),
		fmt.Sprintf(f.left, timeLeft(it.call.ExpiresAt.Sub(m.now()))),
	}
	if look := it.call.Auto; look != nil && look.Reason == "" {
		parts = append(parts, fmt.Sprintf(f.judging, max(0, int(m.now().Sub(look.Since).Seconds()))))
	}
	switch {
	case below > 0:
		parts = append(parts, fmt.Sprintf(f.below, below))
	case missed > 0 && !it.complete:
		parts = append(parts, fmt.Sprintf(f.missed, missed))
	}
	if n := a.alike(it); n > 0 {
		parts = append(parts, fmt.Sprintf("%d alike", n))
	}
	if n := it.call.More; n > 0 {
		parts = append(parts, fmt.Sprintf("+%d like it refused", n))
	}
	if it.sent {
		parts = append(parts, "sent")
	}
	return strings.Join(parts, f.between)
}

// timeLeft writes a duration as minutes and seconds.
func timeLeft(d time.Duration) string {
	if d <= 0 {
		return "0:00"
	}
	seconds := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// drawBodyRow draws one row of an item; escapes stand out from the text.
func (m *Model) drawBodyRow(panel *view.Surface, y int, row bodyRow) {
	text, label := m.theme.Body, m.theme.Label
	switch row.kind {
	case rowChanged:
		text = m.theme.Changed
	case rowHeading, rowEffect:
		text.Attr |= term.Bold
	case rowWarning:
		text, label = m.theme.Escape, m.theme.Escape
	case rowHunk:
		text = m.theme.Label
	case rowAdded:
		text, label = m.theme.Added, m.theme.Added
	case rowRemoved:
		text, label = m.theme.Removed, m.theme.Removed
	case rowPlain:
	}
	x := panel.Text(1, y, row.label, label)
	panel.Sanitized(x, y, row.text, text, m.theme.Escape)
}
