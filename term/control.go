package term

// c0 obeys a control character.
func (e *emulator) c0(b byte) {
	e.lastWidth = 0
	switch b {
	case 0x07:
		e.raise(Event{Kind: EventBell})
	case 0x08:
		e.left(1)
	case 0x09:
		e.tab(1)
	case 0x0a, 0x0b, 0x0c:
		e.index()
		if e.newline {
			e.x = 0
		}
	case 0x0d:
		e.x = 0
	case 0x0e:
		e.shift = 1
	case 0x0f:
		e.shift = 0
	}
}

// c1 obeys a control character beyond ASCII, written as UTF-8.
func (e *emulator) c1(b byte) {
	e.repeatable, e.lastWidth = e.lastWidth, 0
	switch b {
	case 0x84, 0x85, 0x88, 0x8d:
		e.dispatchEscape(b - 0x40)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		e.beginString(b - 0x40)
	case 0x9b:
		e.beginControl()
	}
}

// dispatchEscape carries out an escape sequence without intermediate bytes.
func (e *emulator) dispatchEscape(b byte) {
	switch b {
	case '[':
		e.beginControl()
	case ']', 'P', 'X', '^', '_':
		e.beginString(b)
	case '7':
		e.saveCursor()
	case '8':
		e.restoreCursor()
	case 'D':
		e.index()
	case 'E':
		e.index()
		e.x = 0
	case 'M':
		e.reverseIndex()
	case 'H':
		e.tabs[min(e.x, e.cols-1)] = true
	case 'c':
		e.reset()
	case '=':
		e.keypad = true
	case '>':
		e.keypad = false
	case 'N':
		e.singleShift = 2
	case 'O':
		e.singleShift = 3
	case 'n':
		e.shift = 2
	case 'o':
		e.shift = 3
	case 'Z':
		e.answerPrimaryAttributes()
	}
}

// param is parameter i, or fallback where the sequence left it out.
func (e *emulator) param(i, fallback int) int {
	if i < e.count && e.params[i] >= 0 {
		return int(e.params[i])
	}
	return fallback
}

// number1 is parameter i where both leaving it out and 0 mean 1.
func (e *emulator) number1(i int) int { return max(1, e.param(i, 1)) }

// dispatchControl carries out a control sequence.
func (e *emulator) dispatchControl(final byte) {
	switch {
	case e.subs != 0 && final != 'm':
		// A colon anywhere else makes a sequence that nobody defines.
	case e.inter != 0:
		e.dispatchIntermediate(final)
	case e.prefix != 0:
		e.dispatchPrivate(final)
	case final == 'm':
		e.selectGraphics()
	default:
		if !e.dispatchMotion(final) {
			e.dispatchEdit(final)
		}
	}
}

// dispatchMotion carries out the sequences that move the cursor.
func (e *emulator) dispatchMotion(final byte) bool {
	switch final {
	case 'H', 'f':
		e.moveTo(e.number1(1)-1, e.number1(0)-1)
	case 'A':
		e.up(e.number1(0))
	case 'B':
		e.down(e.number1(0))
	case 'C', 'a':
		e.right(e.number1(0))
	case 'D':
		e.left(e.number1(0))
	case 'E':
		e.down(e.number1(0))
		e.x = 0
	case 'F':
		e.up(e.number1(0))
		e.x = 0
	case 'G', '`':
		e.x = min(e.number1(0), e.cols) - 1
	case 'd':
		e.moveToRow(e.number1(0) - 1)
	case 'e':
		e.unwrap()
		e.y = min(e.y+e.number1(0), e.rows-1)
	case 'I':
		e.tab(min(e.number1(0), e.cols))
	case 'Z':
		e.backTab(min(e.number1(0), e.cols))
	case 's':
		e.saveCursor()
	case 'u':
		e.restoreCursor()
	default:
		return false
	}
	return true
}

// dispatchEdit carries out the sequences that change cells or modes, or ask.
func (e *emulator) dispatchEdit(final byte) {
	switch final {
	case 'K':
		e.eraseLine(e.param(0, 0))
	case 'J':
		e.eraseDisplay(e.param(0, 0))
	case 'X':
		e.eraseColumns(e.number1(0))
	case '@':
		e.insertColumns(e.number1(0), e.blank())
	case 'P':
		e.deleteColumns(e.number1(0))
	case 'L':
		e.shiftLines(e.number1(0))
	case 'M':
		e.shiftLines(-e.number1(0))
	case 'S':
		e.scrollUp(e.number1(0))
	case 'T':
		if e.count == 1 { // with more it starts mouse tracking
			e.scrollRegion(e.top, e.bottom, -e.number1(0))
		}
	case 'b':
		e.repeatLast(e.number1(0))
	case 'g':
		e.clearTabs(e.param(0, 0))
	case 'h', 'l':
		e.setModes(final == 'h')
	case 'r':
		e.setRegion(e.number1(0), e.param(1, 0))
	case 'c':
		if e.param(0, 0) == 0 {
			e.answerPrimaryAttributes()
		}
	case 'n':
		e.answerStatus()
	case 't':
		e.windowRequest()
	}
}

// dispatchPrivate carries out the sequences marked with one of < = > ?.
func (e *emulator) dispatchPrivate(final byte) {
	switch string([]byte{e.prefix, final}) {
	case "?h", "?l":
		e.setPrivateModes(final == 'h')
	case "?J":
		e.eraseDisplay(e.param(0, 0))
	case "?K":
		e.eraseLine(e.param(0, 0))
	case "?n":
		e.answerPrivateStatus()
	case ">c":
		if e.param(0, 0) == 0 {
			e.answer("\x1b[>1;10;0c")
		}
	case ">q":
		if e.param(0, 0) == 0 {
			e.answer("\x1bP>|%s\x1b\\", versionAnswer)
		}
	case "?u", ">u", "<u", "=u":
		e.kittyKeyboard()
	case ">m", "?m":
		e.keyModifiers()
	}
}

// dispatchIntermediate carries out the sequences with an intermediate byte.
func (e *emulator) dispatchIntermediate(final byte) {
	switch string([]byte{e.inter, final}) {
	case "$p":
		e.answerModeRequest()
	case "!p":
		if e.prefix == 0 {
			e.softReset()
		}
	case " q":
		if shape := e.param(0, 0); e.prefix == 0 && shape <= int(CursorBar) {
			e.shape = CursorShape(shape)
		}
	}
}

// softReset is DECSTR. It leaves cells and cursor where they are.
func (e *emulator) softReset() {
	e.modes.set(originMode, false)
	e.modes.set(autoWrap, true)
	e.modes.set(cursorVisible, true)
	e.modes.set(applicationCursor, false)
	e.insert, e.keypad = false, false
	e.top, e.bottom = 0, e.rows-1
	e.setPen(attrs{})
	e.charsets, e.shift, e.singleShift = asciiCharsets, 0, 0
	e.saved[e.screenIndex()] = savedCursor{charsets: asciiCharsets}
}
