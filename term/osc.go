package term

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Bounds of the payload of an operating system command.
const (
	maxTitle = 1 << 10 // bytes; twice that in hexadecimal
	maxLink  = 2083    // bytes; longer targets are ignored
	maxNote  = 4 << 10 // bytes of a notification or status
)

// dispatchOSC executes an operating system command. bell says that the program ended it
// with BEL, because the answer must end the same way.
func (e *emulator) dispatchOSC(s []byte, bell bool) {
	number, rest, _ := bytes.Cut(s, []byte{';'})
	switch string(number) {
	case "0", "1", "2":
		e.titleCommand(number[0], rest)
	case "4", "5", "10", "11", "12", "104", "105", "110", "111", "112":
		e.colorCommand(string(number), rest, bell)
	case "8":
		e.setLink(rest)
	case "9":
		e.notify(rest)
	case "52":
		e.copyToClipboard(rest)
	case "133":
		e.shellMark(rest)
	case "777":
		e.notifyTitled(rest)
	case "7501":
		if string(rest) == "?" {
			e.answer("\x1b]7501;?\x1b\\") // this terminal reads reports
			return
		}
		e.raise(Event{Kind: EventStatus, Text: cleanText(rest, maxNote)})
	}
}

// shellMark is OSC 133, with which a shell marks its prompts and commands.
func (e *emulator) shellMark(s []byte) {
	if len(s) == 0 {
		return
	}
	switch s[0] {
	case 'A':
		e.rowStates()[e.y].prompt = true
		e.raise(Event{Kind: EventPrompt})
	case 'C':
		e.raise(Event{Kind: EventCommand})
	case 'D':
		e.raise(Event{Kind: EventPrompt})
	}
}

// cleanText returns at most limit bytes of s as text without control characters.
func cleanText(s []byte, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(s), ""))
}

// setLink starts or ends a hyperlink: params;target.
func (e *emulator) setLink(s []byte) {
	_, target, _ := bytes.Cut(s, []byte{';'})
	pen := e.pen
	pen.link = 0
	if n := len(target); n > 0 && n <= maxLink {
		clean := cleanText(target, maxLink)
		pen.link, _ = e.links.number([]byte(clean))
	}
	e.setPen(pen)
	if e.links.full() {
		e.sweep()
	}
}

// copyToClipboard is OSC 52. A program may write the clipboard but not read it: a
// request for its contents gets no answer.
func (e *emulator) copyToClipboard(s []byte) {
	selection, encoded, ok := bytes.Cut(s, []byte{';'})
	if !ok || len(encoded) == 0 || encoded[0] == '?' {
		return
	}
	data, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(encoded, "=")))
	if err != nil || len(data) == 0 {
		return
	}
	e.raise(Event{Kind: EventClipboard, Text: cleanText(selection, 16), Data: data})
}

// notify is OSC 9. It ignores a payload that begins with a number, because that is a
// ConEmu command, such as progress, and not a message.
func (e *emulator) notify(s []byte) {
	if command, _, _ := bytes.Cut(s, []byte{';'}); len(command) > 0 {
		if _, err := strconv.Atoi(string(command)); err == nil && bytes.IndexByte(s, ';') >= 0 {
			return
		}
	}
	if text := cleanText(s, maxNote); text != "" {
		e.raise(Event{Kind: EventNotification, Text: text})
	}
}

// notifyTitled is OSC 777;notify;title;text.
func (e *emulator) notifyTitled(s []byte) {
	rest, ok := bytes.CutPrefix(s, []byte("notify;"))
	if !ok {
		return
	}
	title, text, _ := bytes.Cut(rest, []byte{';'})
	e.raise(Event{
		Kind:  EventNotification,
		Title: cleanText(title, maxTitle),
		Text:  cleanText(text, maxNote),
	})
}

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
