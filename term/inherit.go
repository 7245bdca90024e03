package term

// Inherit moves the scrollback of another screen and the lines of its main screen to
// the top of this screen's scrollback, followed by the divider line. This screen's
// program cannot erase the lines down to the divider, and they never move down to the
// screen. The other screen keeps its cells and loses its scrollback.
func (s *Screen) Inherit(from *Screen, divider []Cell) {
	cols, rows := s.Size()
	if s == from || cols == 0 {
		return
	}
	from.Resize(cols, rows) // so that its lines are as wide as this screen's
	h := from.giveHistory()
	if h == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return
	}
	own := s.emulator.history
	h.dropped = own.dropped
	h.addPacked(h.pack.cells(divider, rowState{}))
	h.kept = h.count
	for i := range own.count {
		h.addPacked(own.line(i))
	}
	s.emulator.history = h
	s.settle()
}

// giveHistory returns the scrollback with the rows of the main screen at its end,
// except the empty rows at the bottom, and starts an empty scrollback. It returns nil
// when there are no lines or the scrollback is disabled.
func (s *Screen) giveHistory() *history {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil || !s.emulator.history.enabled() {
		return nil
	}
	e := s.emulator
	e.grid.show(false)
	lines := e.mainLines()
	e.grid.show(e.alt)
	for len(lines) > 0 && len(lines[len(lines)-1].cells) == 0 {
		lines = lines[:len(lines)-1]
	}
	for _, l := range lines {
		e.keepCells(l)
	}
	h := e.history
	if h.count == 0 {
		return nil
	}
	e.history = newHistory(h.max)
	e.history.dropped = h.dropped
	s.settle()
	return h
}
