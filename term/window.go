package term

import "github.com/ironcurtain-mux/ironcurtain-mux/term/keys"

// maxTitles bounds the stack of titles.
const maxTitles = 16

// windowRequest reports the window's size and state, where the window is the program's
// pane, and keeps the stack of titles. It ignores commands: no program can move, resize,
// hide or raise the person's window.
func (e *emulator) windowRequest() {
	switch e.param(0, 0) {
	case 11: // not iconified
		e.answer("\x1b[1t")
	case 13: // position
		e.answer("\x1b[3;0;0t")
	case 14:
		e.answer("\x1b[4;%d;%dt", e.rows*keys.CellHeight, e.cols*keys.CellWidth)
	case 15:
		e.answer("\x1b[5;%d;%dt", e.rows*keys.CellHeight, e.cols*keys.CellWidth)
	case 16:
		e.answer("\x1b[6;%d;%dt", keys.CellHeight, keys.CellWidth)
	case 18:
		e.answer("\x1b[8;%d;%dt", e.rows, e.cols)
	case 19:
		e.answer("\x1b[9;%d;%dt", e.rows, e.cols)
	case 20:
		e.answerTitle('L', e.iconTitle)
	case 21:
		e.answerTitle('l', e.title)
	case 22:
		if e.param(1, 0) != 1 && len(e.titleStack) < maxTitles {
			e.titleStack = append(e.titleStack, e.title)
		}
	case 23:
		if n := len(e.titleStack); e.param(1, 0) != 1 && n > 0 {
			e.setTitle(e.titleStack[n-1])
			e.titleStack = e.titleStack[:n-1]
		}
	}
}
