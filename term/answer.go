package term

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// versionAnswer is what XTVERSION names.
const versionAnswer = "ironcurtain-mux(0.1)"

// maxReplies bounds the answers waiting for the program, in bytes. A program
// that asks and never reads loses the later ones.
const maxReplies = 64 << 10

// answer queues an answer to the program.
func (e *emulator) answer(format string, args ...any) {
	if len(e.replies) > maxReplies {
		return
	}
	e.replies = fmt.Appendf(e.replies, format, args...)
}

// maxLevel is that of the VT420, which DA1 claims: with national charsets, selective
// erasing, horizontal scrolling, color and rectangles. It is no claim to 132 columns, a
// printer, a locator or windows, which a pane does not have.
const maxLevel = 4

// likeXterm is the version that DA2 names: of the xterm whose sequences these are.
// Programs know them by it.
const likeXterm = 383

func (e *emulator) answerPrimaryAttributes() { e.answer("\x1b[?64;6;9;21;22;28c") }

// answerStatus is DSR and CPR.
func (e *emulator) answerStatus() {
	switch e.param(0, 0) {
	case 5:
		e.answer("\x1b[0n")
	case 6:
		x, y := e.reported()
		e.answer("\x1b[%d;%dR", y, x)
	}
}

// answerPrivateStatus is DECXCPR, the question for light or dark, and those for parts
// that DEC's terminals could have.
func (e *emulator) answerPrivateStatus() {
	switch e.param(0, 0) {
	case 6:
		x, y := e.reported()
		e.answer("\x1b[?%d;%d;1R", y, x)
	case 15:
		e.answer("\x1b[?13n") // no printer
	case 25:
		e.answer("\x1b[?21n") // programs define no keys
	case 26:
		e.answer("\x1b[?27;0;0;5n") // a PC's keyboard, ready, its language not known
	case 53, 55:
		e.answer("\x1b[?50n") // no locator
	case 56:
		e.answer("\x1b[?57;0n") // of no kind
	case 62:
		e.answer("\x1b[0*{") // no room for macros
	case 63:
		e.answer("\x1bP%d!~0000\x1b\\", e.param(1, 0)) // the checksum of none
	case 75:
		e.answer("\x1b[?70n") // no errors on the line
	case 85:
		e.answer("\x1b[?83n") // one session
	case 996:
		e.reportTheme()
	}
}

// reportTheme is the report of mode 2031: dark or light.
func (e *emulator) reportTheme() {
	theme := 2
	if e.background.Dark() {
		theme = 1
	}
	e.answer("\x1b[?997;%dn", theme)
}

// reported is the cursor's one-based position as programs are told it.
func (e *emulator) reported() (x, y int) {
	x0, y0 := e.origin()
	return e.column() - x0 + 1, e.y - y0 + 1
}

// reportSize is the report of mode 2048.
func (e *emulator) reportSize() {
	e.answer("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*keys.CellHeight, e.cols*keys.CellWidth)
}
