package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
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
	m.sink.publish(s)
}

// draw makes the scene of the present state.
func (m *Model) draw() *scene {
	s := &scene{Cols: m.cols, Rows: m.rows, Focus: -1}
	if !m.fits {
		s.Layers = append(s.Layers, m.drawTooSmall())
		s.Cursor = &term.Cursor{}
		m.approvals.hide()
		return s
	}
	m.placePanes(s)
	s.Layers = append(s.Layers, m.drawTabs(), m.drawStatus())
	if long := m.drawMessage(); long != nil {
		s.Layers = append(s.Layers, long)
	}
	m.drawToasts(s)
	if m.mode == modeHelp {
		s.Layers = append(s.Layers, m.drawHelp())
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modePicker {
		s.Layers = append(s.Layers, m.drawPicker())
		s.Cursor = &term.Cursor{}
	}
	if m.mode == modeCommand || m.mode == modeCopy && m.copying.searching {
		m.drawCommand(s)
	} else {
		m.approvals.hide()
	}
	return s
}

// drawTooSmall says in one line that there is not enough room.
func (m *Model) drawTooSmall() *surface {
	s := newSurface(rect{0, 0, m.cols, m.rows}, m.theme.Body)
	text := "terminal too small"
	if m.cols < textWidth(text) {
		text = "too small"
	}
	s.text(0, 0, clip(text, m.cols), m.theme.Bad)
	return s
}
