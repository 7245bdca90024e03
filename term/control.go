package term

// c0 executes a control character of ASCII.
func (e *emulator) c0(b byte) {
	e.lastWidth = 0
	switch b {
	case 0x07: // BEL
		e.raise(Event{Kind: EventBell})
	case 0x08: // BS
		e.back(1)
	case 0x09: // HT
		e.tab(1)
	case 0x0a, 0x0b, 0x0c: // LF, VT, FF
		e.index()
		if e.newline {
			e.carriageReturn()
		}
	case 0x0d: // CR
		e.carriageReturn()
	case 0x0e: // SO
		e.shift = 1
	case 0x0f: // SI
		e.shift = 0
	}
}

// c1 executes a control character from 0x80 to 0x9f, written as UTF-8.
func (e *emulator) c1(b byte) {
	e.repeatable, e.lastWidth = e.lastWidth, 0
	switch b {
	case 0x84, 0x85, 0x88, 0x8d, 0x96, 0x97: // IND, NEL, HTS, RI, SPA, EPA
		e.dispatchEscape(b - 0x40)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC
		e.beginString(b - 0x40)
	case 0x9b: // CSI
		e.beginControl()
	}
}

// dispatchEscape executes an escape sequence without intermediate bytes.
func (e *emulator) dispatchEscape(b byte) {
	switch b {
	case '[': // CSI
		e.beginControl()
	case ']', 'P', 'X', '^', '_': // OSC, DCS, SOS, PM, APC
		e.beginString(b)
	case '7': // DECSC
		e.saveCursor()
	case '8': // DECRC
		e.restoreCursor()
	case 'D': // IND
		e.index()
	case 'E': // NEL
		e.index()
		e.carriageReturn()
	case 'M': // RI
		e.reverseIndex()
	case 'H': // HTS
		e.tabs[e.column()] = true
	case '6': // DECBI
		e.indexBackward()
	case '9': // DECFI
		e.indexForward()
	case 'c': // RIS
		e.reset()
	case '=': // DECKPAM
		e.keypad = true
	case '>': // DECKPNM
		e.keypad = false
	case 'N': // SS2
		e.singleShift = 2
	case 'O': // SS3
		e.singleShift = 3
	case 'n': // LS2
		e.shift = 2
	case 'o': // LS3
		e.shift = 3
	case 'V': // SPA
		e.guarded = true
		e.protect(true)
	case 'W': // EPA
		e.protect(false)
	case 'Z': // DECID
		e.answerPrimaryAttributes()
	}
}

// param returns parameter i, or fallback when the sequence left it out.
func (e *emulator) param(i, fallback int) int {
	if i < e.count && e.params[i] >= 0 {
		return int(e.params[i])
	}
	return fallback
}

// number1 returns parameter i. A missing parameter and 0 both mean 1.
func (e *emulator) number1(i int) int { return max(1, e.param(i, 1)) }

// dispatchControl executes a control sequence.
func (e *emulator) dispatchControl(final byte) {
	switch {
	case e.subs != 0 && final != 'm':
		// Only SGR defines colons; any other sequence with one is ignored.
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

// dispatchMotion executes the sequences that move the cursor. It returns false for any
// other sequence.
func (e *emulator) dispatchMotion(final byte) bool {
	switch final {
	case 'H', 'f': // CUP, HVP
		e.moveTo(e.number1(1)-1, e.number1(0)-1)
	case 'A': // CUU
		e.up(e.number1(0))
	case 'B': // CUD
		e.down(e.number1(0))
	case 'C', 'a': // CUF, HPR
		e.forward(e.number1(0))
	case 'D': // CUB
		e.back(e.number1(0))
	case 'E': // CNL
		e.down(e.number1(0))
		e.carriageReturn()
	case 'F': // CPL
		e.up(e.number1(0))
		e.carriageReturn()
	case 'G', '`': // CHA, HPA
		e.moveToColumn(e.number1(0) - 1)
	case 'd': // VPA
		e.moveToRow(e.number1(0) - 1)
	case 'e': // VPR
		e.unwrap()
		e.y = min(e.y+e.number1(0), e.rows-1)
	case 'I': // CHT
		e.tab(min(e.number1(0), e.cols))
	case 'Z': // CBT
		e.backTab(min(e.number1(0), e.cols))
	case 's': // DECSLRM, SCOSC
		if e.modes.has(columnMargins) {
			e.setColumns(e.number1(0), e.param(1, 0))
		} else {
			e.saveCursor()
		}
	case 'u': // SCORC
		e.restoreCursor()
	default:
		return false
	}
	return true
}

// dispatchEdit executes the sequences that change cells or modes, and those that
// request a report.
func (e *emulator) dispatchEdit(final byte) {
	switch final {
	case 'K', 'J', 'X': // EL, ED, ECH
		e.sparing = e.guarded
		e.dispatchErase(final)
		e.sparing = false
	case '@': // ICH
		e.insertColumns(e.number1(0), e.blank())
	case 'P': // DCH
		e.deleteColumns(e.number1(0))
	case 'L': // IL
		e.shiftLines(e.number1(0))
	case 'M': // DL
		e.shiftLines(-e.number1(0))
	case 'S': // SU
		e.scrollUp(e.number1(0))
	case 'T', '^': // SD
		if e.count == 1 { // with more parameters it starts highlight mouse tracking
			e.scrollRegion(e.top, e.bottom, -e.number1(0))
		}
	case 'b': // REP
		e.repeatLast(e.number1(0))
	case 'g': // TBC
		e.clearTabs(e.param(0, 0))
	case 'h', 'l': // SM, RM
		e.setModes(final == 'h')
	case 'r': // DECSTBM
		e.setRegion(e.number1(0), e.param(1, 0))
	case 'c': // DA1
		if e.param(0, 0) == 0 {
			e.answerPrimaryAttributes()
		}
	case 'n': // DSR
		e.answerStatus()
	case 't': // XTWINOPS
		e.windowRequest()
	}
}

// dispatchErase executes the sequences that erase.
func (e *emulator) dispatchErase(final byte) {
	switch final {
	case 'K': // EL
		e.eraseLine(e.param(0, 0))
	case 'J': // ED
		e.eraseDisplay(e.param(0, 0))
	case 'X': // ECH
		e.eraseColumns(e.number1(0))
	}
}

// dispatchPrivate executes the sequences whose parameters begin with one of < = > ?.
func (e *emulator) dispatchPrivate(final byte) {
	switch string([]byte{e.prefix, final}) {
	case "?h", "?l": // DECSET, DECRST
		e.setPrivateModes(final == 'h')
	case "?J", "?K": // DECSED, DECSEL
		e.sparing = true
		e.dispatchErase(final)
		e.sparing = false
	case ">t", ">T": // XTSMTITLE, XTRMTITLE
		e.setTitleModes(final == 't')
	case "?s": // XTSAVE
		e.saveModes()
	case "?r": // XTRESTORE
		e.restoreModes()
	case "?n": // DECDSR
		e.answerPrivateStatus()
	case ">c": // DA2
		if e.param(0, 0) == 0 {
			e.answer("\x1b[>41;%d;0c", xtermVersion)
		}
	case ">q": // XTVERSION
		if e.param(0, 0) == 0 {
			e.answer("\x1bP>|%s\x1b\\", versionAnswer)
		}
	case "?u", ">u", "<u", "=u": // the kitty keyboard protocol
		e.kittyKeyboard()
	case ">m", "?m": // XTMODKEYS, XTQMODKEYS
		e.keyModifiers()
	}
}

// dispatchIntermediate executes the sequences with an intermediate byte.
func (e *emulator) dispatchIntermediate(final byte) {
	switch string([]byte{e.inter, final}) {
	case "$p": // DECRQM
		e.answerModeRequest()
	case "\"p": // DECSCL
		if level := e.param(0, 0) - 60; e.prefix == 0 && level >= 1 && level <= maxLevel {
			e.softReset()
			e.level = level
		}
	case "!p": // DECSTR
		if e.prefix == 0 {
			e.softReset()
		}
	case " q": // DECSCUSR
		if shape := e.param(0, 0); e.prefix == 0 && shape <= int(CursorBar) {
			e.shape = CursorShape(shape)
		}
	case "\"q": // DECSCA
		if which := e.param(0, 0); e.prefix == 0 && which <= 2 {
			e.guarded = false
			e.protect(which == 1)
		}
	case "$v", "$x", "$z", "${", "$r", "$t", "*x", "*y":
		if e.prefix == 0 && e.level >= 4 {
			e.dispatchRectangle(final)
		}
	case " @": // SL
		e.shiftColumns(e.left, -e.number1(0))
	case " A": // SR
		e.shiftColumns(e.left, e.number1(0))
	case "'}": // DECIC
		e.shiftColumns(e.column(), e.number1(0))
	case "'~": // DECDC
		e.shiftColumns(e.column(), -e.number1(0))
	}
}

// dispatchRectangle executes the sequences that change rectangles or return their
// checksum.
func (e *emulator) dispatchRectangle(final byte) {
	switch final {
	case 'v': // DECCRA
		e.copyRectangle()
	case 'x': // DECFRA, DECSACE
		if e.inter == '*' {
			e.extent = min(e.param(0, 0), 2)
			return
		}
		e.fillRectangle()
	case 'z': // DECERA
		e.eraseRectangle(false)
	case '{': // DECSERA
		e.eraseRectangle(true)
	case 'r': // DECCARA
		e.changeRectangle(false)
	case 't': // DECRARA
		e.changeRectangle(true)
	case 'y': // DECRQCRA
		e.answerChecksum()
	}
}

// softReset is DECSTR. It does not change cells or move the cursor.
func (e *emulator) softReset() {
	e.modes.set(originMode, false)
	e.modes.set(autoWrap, true)
	e.modes.set(cursorVisible, true)
	e.modes.set(applicationCursor, false)
	e.modes.set(reverseWrap, false)
	e.modes.set(columnMargins|nationalSets, false)
	e.guarded = false
	e.insert, e.keypad = false, false
	e.clearMargins()
	e.setPen(attrs{})
	e.charsets, e.shift, e.singleShift = asciiCharsets, 0, 0
	e.saved[e.screenIndex()] = savedCursor{charsets: asciiCharsets}
}
