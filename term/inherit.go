package term

// Inherit moves what another screen has shown, its scrollback and the lines of its
// main screen, above everything that this one has, with a line of the caller's
// between them. What is above that line stays out of reach: this screen's program does
// not erase it, and it never comes down to the screen. The other screen keeps its
// picture and loses its scrollback.
func (s *Screen) Inherit(from *Screen, divider []Cell) {
	cols, rows := s.Size()
	if s == from || cols == 0 {
		return
	}
	from.Resize(cols, rows) // so that its lines are as wide as these
	h := from.bequeath()
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

// bequeath gives away the scrollback with the rows of the main screen at its end, but
// for the empty ones below them; nil when there is nothing or nothing is kept.
func (s *Screen) bequeath() *history {
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
