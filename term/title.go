package term

import (
	"encoding/hex"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// titleCommand sets the title of the window, the icon's or both (OSC 2, 1 and 0).
func (e *emulator) titleCommand(which byte, text []byte) {
	if e.titleHexSet {
		plain, err := hex.DecodeString(string(text[:min(len(text), 2*maxTitle)]))
		if err != nil {
			return
		}
		text = plain
	}
	title := cleanText(text, maxTitle)
	if which != '2' {
		e.iconTitle = title
	}
	if which != '1' {
		e.setTitle(title)
	}
}

func (e *emulator) setTitle(title string) {
	if title == e.title {
		return
	}
	e.title = title
	e.raise(Event{Kind: EventTitle, Title: title})
}

// setTitleModes is XTSMTITLE and XTRMTITLE: it chooses whether programs set titles, and
// get reports of titles, in hexadecimal. Otherwise titles are UTF-8; the other title
// modes have no effect.
func (e *emulator) setTitleModes(on bool) {
	for _, n := range e.params[:e.count] {
		switch n {
		case 0:
			e.titleHexSet = on
		case 1:
			e.titleHexAsked = on
		}
	}
}

// answerTitle reports a title in hexadecimal digits, if the program chose that. It never
// reports a title as text, because another program may have set it, and a program that
// does not expect the answer would read it as typed input.
func (e *emulator) answerTitle(mark byte, title string) {
	if e.titleHexAsked {
		e.answer("\x1b]%c%X\x1b\\", mark, title)
	}
}

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
