package term

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// versionAnswer is the name and version in the answer to XTVERSION.
const versionAnswer = "ironcurtain-mux(0.1)"

// maxReplies bounds the answers waiting for the program, in bytes. A program that asks
// and never reads loses later answers.
const maxReplies = 64 << 10

// answer queues an answer to the program.
func (e *emulator) answer(format string, args ...any) {
	if len(e.replies) > maxReplies {
		return
	}
	e.replies = fmt.Appendf(e.replies, format, args...)
}

// maxLevel is the conformance level of the VT420. The answer to DA1 claims this level
// with national charsets, selective erasing, horizontal scrolling, color and
// rectangles, but without 132 columns, a printer, a locator or windows, which a pane
// does not have.
const maxLevel = 4

// xtermVersion is the version in the answer to DA2: that of the xterm whose sequences
// this package implements. Programs decide by it which sequences they may use.
const xtermVersion = 379

func (e *emulator) answerPrimaryAttributes() { e.answer("\x1b[?64;6;9;21;22;28c") }

// answerStatus answers DSR: the status and the cursor position report (CPR).
func (e *emulator) answerStatus() {
	switch e.param(0, 0) {
	case 5:
		e.answer("\x1b[0n")
	case 6:
		x, y := e.reported()
		e.answer("\x1b[%d;%dR", y, x)
	}
}

// answerPrivateStatus answers the private DSR: the extended cursor position (DECXCPR),
// dark or light colors, and the optional parts of DEC's terminals.
func (e *emulator) answerPrivateStatus() {
	switch e.param(0, 0) {
	case 6:
		x, y := e.reported()
		e.answer("\x1b[?%d;%d;1R", y, x)
	case 15:
		e.answer("\x1b[?13n") // no printer
	case 25:
		e.answer("\x1b[?21n") // programs cannot define keys
	case 26:
		e.answer("\x1b[?27;0;0;5n") // PC keyboard, ready, language unknown
	case 53, 55:
		e.answer("\x1b[?50n") // no locator
	case 56:
		e.answer("\x1b[?57;0n") // locator type: none
	case 62:
		e.answer("\x1b[0*{") // no room for macros
	case 63:
		e.answer("\x1bP%d!~0000\x1b\\", e.param(1, 0)) // checksum of no macros
	case 75:
		e.answer("\x1b[?70n") // no errors on the line
	case 85:
		e.answer("\x1b[?83n") // one session
	case 996:
		e.reportTheme()
	}
}

// reportTheme answers whether the background is dark or light (mode 2031).
func (e *emulator) reportTheme() {
	theme := 2
	if e.background.Dark() {
		theme = 1
	}
	e.answer("\x1b[?997;%dn", theme)
}

// reported returns the cursor's position as reports give it: one-based and from the
// region's corner in origin mode.
func (e *emulator) reported() (x, y int) {
	x0, y0 := e.origin()
	return e.column() - x0 + 1, e.y - y0 + 1
}

// reportSize answers the screen's size in cells and pixels (mode 2048).
func (e *emulator) reportSize() {
	e.answer("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*keys.CellHeight, e.cols*keys.CellWidth)
}

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
