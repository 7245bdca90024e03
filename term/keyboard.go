package term

// kittyStack is the kitty keyboard protocol's stack of flags; each screen has its own.
// When it is full, push drops the oldest entry.
type kittyStack struct {
	entries [16]uint8
	depth   int
	base    uint8 // the flags when nothing is pushed
}

const kittyFlags = 0x1f // the flags that the protocol defines

func (s *kittyStack) flags() uint8 {
	if s.depth == 0 {
		return s.base
	}
	return s.entries[s.depth-1]
}

func (s *kittyStack) push(flags uint8) {
	if s.depth == len(s.entries) {
		copy(s.entries[:], s.entries[1:])
		s.depth--
	}
	s.entries[s.depth] = flags
	s.depth++
}

func (s *kittyStack) pop(n int) {
	if n > s.depth {
		s.base = 0
	}
	s.depth = max(0, s.depth-n)
}

func (s *kittyStack) set(flags uint8) {
	if s.depth == 0 {
		s.base = flags
		return
	}
	s.entries[s.depth-1] = flags
}

// kittyKeyboard reports, pushes, pops or changes the flags.
func (e *emulator) kittyKeyboard() {
	s := &e.kitty[e.screenIndex()]
	flags := uint8(e.param(0, 0) & kittyFlags)
	switch e.prefix {
	case '?':
		e.answer("\x1b[?%du", s.flags())
	case '>':
		s.push(flags)
	case '<':
		s.pop(e.number1(0))
	case '=':
		switch e.param(1, 1) {
		case 1:
			s.set(flags)
		case 2:
			s.set(s.flags() | flags)
		case 3:
			s.set(s.flags() &^ flags)
		}
	}
}

// keyModifiers sets, resets or reports xterm's modifyOtherKeys. It ignores the other
// XTMODKEYS resources.
func (e *emulator) keyModifiers() {
	const modifyOtherKeys = 4
	if e.prefix == '?' {
		if e.param(0, 0) == modifyOtherKeys {
			e.answer("\x1b[>4;%dm", e.otherKeys)
		}
		return
	}
	if e.count == 1 && e.params[0] < 0 || e.param(0, 0) == modifyOtherKeys {
		e.otherKeys = uint8(min(2, e.param(1, 0)))
	}
}
