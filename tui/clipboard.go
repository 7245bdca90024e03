package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

const (
	// copyEvery is the shortest time between two copies of programs. A copy can be large
	// and would delay frames and notifications on the way to the person's terminal.
	copyEvery = 500 * time.Millisecond
	// copyAfter is how long after the person last used a program it may copy without
	// permission, because the person's input may have caused the copy.
	copyAfter = 5 * time.Second
	// copyHold is how long any other copy waits for the person's permission.
	copyHold = 30 * time.Second
	// copyShown is how many columns of a waiting copy the toast shows. The toast shows a copy in
	// full if it is no longer and the viewport has at least copyWidth columns and copyHeight rows.
	// The first /clipboard shows any other copy in full, and the copy then waits for copyRead.
	copyShown             = 140
	copyWidth, copyHeight = 80, 12
	copyRead              = 2 * time.Minute
	// copyLook is the size in bytes of the largest copy that can be shown in full.
	copyLook = 64 << 10
)

// programCopies limits how often programs copy to the clipboard.
type programCopies struct {
	at   time.Time // when the last copy was passed on
	next *paneMsg  // the copy that waits until copyEvery is over; nil: none
}

// heldCopy is a copy that waits for the person's permission, because no input of the person
// can have caused it.
type heldCopy struct {
	data  []byte
	shown bool      // all of it has been on the screen
	since time.Time // when it was announced or shown last
	until time.Time // when it is dropped
}

// used notes that the person gave the tab's program an input, which may make the program copy.
func (t *tab) used(ev keys.Event, now time.Time) {
	if input.Handled(ev) {
		t.usedAt = now
		t.pane.Use()
	}
}

// onProgramCopies handles a program's copy to the clipboard. If the person looks at the program and
// has just used it, the copy is passed on, at once or when copyEvery is over; then only the newest
// copy is. Any other copy waits for permission.
func (m *Model) onProgramCopies(t *tab, msg paneMsg) tea.Cmd {
	if !m.looksAt(t) || m.mode != modeTerminal || m.now().Sub(t.usedAt) > copyAfter {
		return m.holdCopy(t, msg.event.Data)
	}
	if wait := copyEvery - m.now().Sub(m.copies.at); wait > 0 {
		waiting := m.copies.next != nil
		m.copies.next = &msg
		if waiting {
			return nil
		}
		return m.after(wait, copyMsg{})
	}
	m.programCopy(t, msg.event.Data)
	return nil
}

// onCopy passes on the copy that has waited for copyEvery.
func (m *Model) onCopy() tea.Cmd {
	msg := m.copies.next
	m.copies.next = nil
	return m.onPane(*msg)
}

// holdCopy keeps a copy until the person allows it, and shows a toast. It never replaces a copy that
// waits already, because the person would then allow a copy that they have not seen.
func (m *Model) holdCopy(t *tab, data []byte) tea.Cmd {
	now := m.now()
	if t.held != nil && now.Before(t.held.until) || len(data) == 0 || len(data) > copymode.MaxCopy {
		return nil
	}
	name, id, size := t.name(), t.shortID(), view.Counted(len(data), "byte")
	if len(data) > copyLook {
		m.showInfo(fmt.Sprintf("%s tried to copy %s, which is too much to show; a program may copy right after you have used it", name, size))
		return nil
	}
	start := text.Drawable(string(data[:min(len(data), copyShown)]))
	at := m.lay.Viewport
	shown := len(data) <= copyShown && view.TextWidth(start) <= copyShown && at.W >= copyWidth && at.H >= copyHeight
	t.held = &heldCopy{data, shown, now, now.Add(copyHold)}
	offer := fmt.Sprintf("/clipboard %s lets %s copy %s to the clipboard", id, name, size)
	if !shown {
		offer = fmt.Sprintf("/clipboard %s shows what %s wants to copy to the clipboard, %s", id, name, size)
	}
	return m.addToast(view.Toast{Parts: []string{offer, "“" + view.Clip(start, copyShown) + "”"}, More: "/clipboard"})
}

// showCopy shows all of a copy that waits, and lets it wait for copyRead.
func (m *Model) showCopy(t *tab) {
	var lines []view.Line
	for line := range strings.Lines(string(t.held.data)) {
		lines = append(lines, view.Line{Text: text.Drawable(line)})
	}
	m.showHelp(fmt.Sprintf("%s wants to copy %s: close this view, then /clipboard %s allows it", t.name(), view.Counted(len(t.held.data), "byte"), t.shortID()), lines)
	now := m.now()
	t.held.shown, t.held.since, t.held.until = true, now, now.Add(copyRead)
}

// runClipboard is /clipboard [ID|NAME]. It takes no number, because the tabs' numbers may have changed
// since the copy was shown.
func (m *Model) runClipboard(args string) (tea.Cmd, error) {
	t := m.current()
	if args != "" {
		var err error
		if t, err = m.namedTab(args); err != nil {
			return nil, err
		}
	}
	now := m.now()
	switch {
	case t == nil || t.held == nil || !now.Before(t.held.until):
		return nil, fmt.Errorf("/clipboard: no copy waits for permission; a copy waits for %v", copyHold)
	case t.held.since.After(m.begun) || now.Sub(t.held.since) < panel.MinAge:
		m.begun = now
		return nil, fault.New("look at it, then press Enter again", "/clipboard: %s has only just asked to copy this", t.name())
	}
	if !t.held.shown {
		m.showCopy(t)
		return nil, nil
	}
	data := t.held.data
	t.held = nil
	m.programCopy(t, data)
	return nil, nil
}

// programCopy passes a program's copy on and shows a message about it.
func (m *Model) programCopy(t *tab, data []byte) {
	if m.copyOut(data) {
		m.copies.at = m.now()
		m.showInfo(fmt.Sprintf("%s copied %s to the clipboard", t.name(), view.Counted(len(data), "byte")))
	}
}

// copyOut puts data into the clipboard of the person's terminal. It reports false for no
// data and for more than MaxCopy bytes.
func (m *Model) copyOut(data []byte) bool {
	if len(data) == 0 || len(data) > copymode.MaxCopy {
		return false
	}
	text := string(data)
	m.sink.Request(func(d view.Display) error { return d.Copy(text) })
	return true
}
