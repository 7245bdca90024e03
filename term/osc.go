package term

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of what an operating system command may carry.
const (
	maxTitle = 1 << 10 // bytes
	maxLink  = 2083    // bytes; longer targets are no links
	maxNote  = 4 << 10 // bytes of a notification or status
)

// dispatchOSC carries out an operating system command. bell says how the
// program ended it, for answers end the same way.
func (e *emulator) dispatchOSC(s []byte, bell bool) {
	number, rest, _ := bytes.Cut(s, []byte{';'})
	switch string(number) {
	case "0", "2":
		e.setTitle(cleanText(rest, maxTitle))
	case "4":
		e.answerPalette(rest, bell)
	case "8":
		e.setLink(rest)
	case "9":
		e.notify(rest)
	case "10", "11", "12":
		first, _ := strconv.Atoi(string(number))
		e.answerColors(first, rest, bell)
	case "52":
		e.copyToClipboard(rest)
	case "133":
		if len(rest) > 0 && rest[0] == 'A' {
			e.rowStates()[e.y].prompt = true
		}
	case "777":
		e.notifyTitled(rest)
	case "7501":
		if string(rest) == "?" {
			e.answer("\x1b]7501;?\x1b\\") // reports are read here
			return
		}
		e.raise(Event{Kind: EventStatus, Text: cleanText(rest, maxNote)})
	}
}

// cleanText is at most limit bytes of s as text without control characters.
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

func (e *emulator) setTitle(title string) {
	if title == e.title {
		return
	}
	e.title = title
	e.raise(Event{Kind: EventTitle, Title: title})
}

// setLink begins or ends a hyperlink: params;target.
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

// copyToClipboard is OSC 52. A program may write the clipboard and never read
// it: the question for its contents gets no answer.
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

// notify is OSC 9. A payload that begins with a number is one of ConEmu's
// commands, such as progress, and nothing to tell a person.
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

// answerPalette is OSC 4;n;? and so on. Programs may ask for palette entries;
// changing them has no effect, the person's theme stays.
func (e *emulator) answerPalette(s []byte, bell bool) {
	fields := bytes.SplitN(s, []byte{';'}, 2*256+1)
	for i := 0; i+1 < len(fields); i += 2 {
		n, err := strconv.ParseUint(string(fields[i]), 10, 8)
		if err != nil || string(fields[i+1]) != "?" {
			continue
		}
		e.answerColor("4;"+strconv.Itoa(int(n)), PaletteColor(uint8(n)), bell)
	}
}

// answerColors is OSC 10, 11 and 12; each further field is about the next.
func (e *emulator) answerColors(first int, s []byte, bell bool) {
	for i, field := range bytes.SplitN(s, []byte{';'}, 4) {
		if string(field) != "?" {
			continue
		}
		switch n := first + i; n {
		case 10, 12:
			e.answerColor(strconv.Itoa(n), e.foreground, bell)
		case 11:
			e.answerColor("11", e.background, bell)
		}
	}
}

func (e *emulator) answerColor(what string, c Color, bell bool) {
	r, g, b := c.resolve(defaultForeground)
	end := "\x1b\\"
	if bell {
		end = "\a"
	}
	e.answer("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end)
}
