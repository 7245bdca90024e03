package term

// modeReport is the state of a mode in the answer to DECRQM.
type modeReport uint8

// The states, with their numbers in the answer.
const (
	modeUnknown modeReport = iota
	modeIsSet
	modeIsReset
	modeAlwaysSet
	modeAlwaysReset
)

func reportOf(on bool) modeReport {
	if on {
		return modeIsSet
	}
	return modeIsReset
}

// answerModeRequest answers DECRQM, which terminals have from level 3 on.
func (e *emulator) answerModeRequest() {
	if e.level < 3 {
		return
	}
	n := e.param(0, 0)
	switch e.prefix {
	case '?':
		e.answer("\x1b[?%d;%d$y", n, e.privateModeReport(n))
	case 0:
		e.answer("\x1b[%d;%d$y", n, e.ansiModeReport(n))
	}
}

// ansiModeReport returns the state of a mode of SM. Mode 2 is always reset, because a
// program cannot lock the keyboard. SRM is always set, because only the program echoes
// input.
func (e *emulator) ansiModeReport(n int) modeReport {
	switch n {
	case 4:
		return reportOf(e.insert)
	case 20:
		return reportOf(e.newline)
	case 12: // SRM
		return modeAlwaysSet
	case 1, 2, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19:
		return modeAlwaysReset
	}
	return modeUnknown
}

// privateModeReport returns the state of a mode of DECSET.
func (e *emulator) privateModeReport(n int) modeReport {
	for _, m := range privateModes {
		if m.number == n {
			return reportOf(e.modes.has(m.mode))
		}
	}
	switch n {
	case 47, 1047, 1049:
		return reportOf(e.alt)
	case 66:
		return reportOf(e.keypad)
	case 9, 1000, 1002, 1003:
		return reportOf(e.mouse.mode == mouseModes[n])
	case 1005, 1006, 1016:
		return reportOf(e.mouse.format == mouseFormats[n])
	case 60: // horizontal cursor coupling: the whole width is always visible
		return modeAlwaysReset
	}
	return modeUnknown
}

// saveModes is XTSAVE: it saves the current state of the given private modes.
func (e *emulator) saveModes() {
	for _, n := range e.params[:e.count] {
		if report := e.privateModeReport(int(n)); report == modeIsSet || report == modeIsReset {
			if e.savedModes == nil {
				e.savedModes = make(map[int]bool)
			}
			e.savedModes[int(n)] = report == modeIsSet
		}
	}
}

// restoreModes is XTRESTORE: it sets private modes to the state that XTSAVE saved.
func (e *emulator) restoreModes() {
	for _, n := range e.params[:e.count] {
		if on, ok := e.savedModes[int(n)]; ok {
			e.setPrivateMode(int(n), on)
		}
	}
}
