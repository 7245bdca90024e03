package term

import "encoding/hex"

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
