package tui

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// refresh publishes a new scene when anything that is drawn has changed.
func (m *Model) refresh() {
	if !m.dirty || m.cols == 0 {
		return
	}
	m.dirty = false
	m.seq++
	s := m.draw()
	s.Seq = m.seq
	m.sink.Publish(s)
}

// draw makes the scene of the present state.
func (m *Model) draw() *view.Scene {
	s := &view.Scene{Cols: m.cols, Rows: m.rows, Focus: -1}
	if !m.fits {
		s.Layers = append(s.Layers, m.drawTooSmall())
		s.Cursor = &term.Cursor{}
		m.approvals.Hide()
		return s
	}
	m.placePanes(s)
	s.Layers = append(s.Layers, m.drawTabs(), m.drawStatus())
	if long := m.drawMessage(); long != nil {
		s.Layers = append(s.Layers, long)
	}
	m.drawToasts(s)
	if m.mode == modeHelp {
		s.Layers = append(s.Layers, m.help.Draw(m.lay.Viewport, m.theme))
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modePicker {
		s.Layers = append(s.Layers, m.drawPicker())
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modeCommand || m.mode == modeCopy && m.copying.Searching {
		m.drawCommand(s)
	} else {
		m.approvals.Hide()
	}
	return s
}

// drawTooSmall says in one line that there is not enough room.
func (m *Model) drawTooSmall() *view.Surface {
	s := view.NewSurface(view.Rect{X: 0, Y: 0, W: m.cols, H: m.rows}, m.theme.Body)
	text := "terminal too small"
	if m.cols < view.TextWidth(text) {
		text = "too small"
	}
	s.Text(0, 0, view.Clip(text, m.cols), m.theme.Bad)
	return s
}

// sink is where the model's output goes. None of its methods but Edit and Show
// blocks.
type sink interface {
	// Publish replaces the scene that is drawn.
	Publish(s *view.Scene)
	// Wake asks for a frame because the screen of a visible pane has changed.
	Wake()
	// Show does the same, and may paint the frame before it returns: it is for
	// the goroutine that brought the change.
	Show()
	// Request asks the person's terminal for something besides cells: the bell,
	// a notification, the clipboard.
	Request(r view.Request)
	// Edit shows text in a program that has the terminal to itself until it ends.
	// It blocks; only commands call it.
	Edit(ctx context.Context, argv []string, name string, text []byte) error
	// Answered passes on what the terminal said of itself.
	Answered(r keys.Reply)
}
