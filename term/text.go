package term

import "strings"

// LineCount returns the number of lines of scrollback and screen, as Line and Text count them.
func (s *Screen) LineCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return 0
	}
	return s.emulator.scrollback() + s.emulator.rows
}

// Dropped returns how many rows the scrollback has dropped so far to keep its bounds.
// Each dropped line makes line i line i-1.
func (s *Screen) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return 0
	}
	return s.emulator.history.dropped
}

// Line returns line i of scrollback and screen, counted from the oldest, without
// trailing blanks. wrapped says that the next line continues it. After the last line it
// returns nil.
func (s *Screen) Line(i int) (cells []Cell, wrapped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return nil, false
	}
	e := s.emulator
	cells, ok := e.line(i)
	if !ok {
		return nil, false
	}
	next, ok := e.lineState(i + 1)
	return trimBlank(cells), ok && next.continues
}

// Text returns the text of up to n lines from line top on, counted as by Line, one
// string for each line, without trailing blanks.
func (s *Screen) Text(top, n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil || n <= 0 {
		return nil
	}
	e := s.emulator
	top = max(top, 0)
	n = min(n, e.scrollback()+e.rows-top)
	if n <= 0 {
		return nil
	}
	lines := make([]string, n)
	var b strings.Builder
	for i := range lines {
		cells, _ := e.line(top + i)
		b.Reset()
		writeText(&b, trimBlank(cells))
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// Prompts returns the lines, counted as by Line, that a shell marked as the start of its
// prompt (OSC 133).
func (s *Screen) Prompts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.emulator == nil {
		return nil
	}
	var found []int
	for i := range s.emulator.scrollback() + s.emulator.rows {
		if state, _ := s.emulator.lineState(i); state.prompt {
			found = append(found, i)
		}
	}
	return found
}

// line returns line i of scrollback and screen.
func (e *emulator) line(i int) (cells []Cell, ok bool) {
	scrollback := e.scrollback()
	switch {
	case i < 0 || i >= scrollback+e.rows:
		return nil, false
	case i < scrollback:
		return unpack(nil, e.history.line(i), e.widths), true
	}
	return e.appendCells(nil, e.grid.row(i-scrollback, e.run)), true
}

// lineState returns the state of line i.
func (e *emulator) lineState(i int) (state rowState, ok bool) {
	scrollback := e.scrollback()
	switch {
	case i < 0 || i >= scrollback+e.rows:
		return rowState{}, false
	case i < scrollback:
		return packedState(e.history.line(i)), true
	}
	return e.rowStates()[i-scrollback], true
}

// writeText writes the text of cells; blanks become spaces.
func writeText(b *strings.Builder, cells []Cell) {
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Width == 0:
		case c.Rune == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.Rune)
			b.WriteString(c.Marks)
		}
	}
}
