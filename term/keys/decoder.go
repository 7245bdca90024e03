package keys

import (
	"bytes"
	"time"
	"unicode/utf8"
)

const (
	// escapeWait is how long to wait after a lone ESC for the rest of a sequence. A
	// person cannot press two keys that fast, and a connection seldom delays the rest
	// of one write longer.
	escapeWait = 25 * time.Millisecond
	// sequenceWait is how long to wait for the rest of a sequence that has clearly
	// begun. It is long enough for any connection, so that a stalled one does not type
	// half a sequence into a program.
	sequenceWait = time.Second
	// maxSequence bounds the bytes held of an incomplete sequence. A longer sequence
	// becomes several ReplyEvents, which no program gets.
	maxSequence = 16 << 10
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// introducers are the ways to write CSI: in 7 bits, as UTF-8, in 8 bits. A program may
// read any of them followed by pasteEndTail as the end of a paste.
var introducers = [...]string{"\x1b[", "\u009b", "\x9b"}

const pasteEndTail = "201~"

// inside says whether a Decoder is in the middle of a paste or an overlong sequence.
type inside uint8

const (
	insideNothing inside = iota
	insidePaste
	insideString   // of an overlong OSC, DCS or APC
	insideSequence // of an overlong CSI
)

// Decoder turns the bytes of a terminal into events. It uses only the bytes and not the
// clock, so the events do not depend on how the input is split, except for the pieces of a
// paste. The zero Decoder is ready for use. It is not safe for concurrent use.
type Decoder struct {
	// UTF8Mouse says that the terminal was switched to mouse mode 1005, whose events
	// look like those of the older format.
	UTF8Mouse bool

	held []byte // an incomplete event
	in   inside
}

// Feed decodes the next bytes of the input. It holds the bytes of an incomplete event
// for the next call, but does not keep p.
func (d *Decoder) Feed(p []byte) []Event {
	if len(p) == 0 {
		return nil
	}
	buf := make([]byte, 0, len(d.held)+len(p))
	buf = append(append(buf, d.held...), p...)
	return d.decode(buf)
}

// Wait returns how long there must be no input before the owner calls Flush. It is zero
// when Flush would do nothing.
func (d *Decoder) Wait() time.Duration {
	switch {
	case d.in == insidePaste:
		return 0
	case d.in != insideNothing:
		return sequenceWait
	case len(d.held) == 0:
		return 0
	case d.held[0] == esc && len(d.held) <= 2:
		return escapeWait
	}
	return sequenceWait
}

// Flush decodes the held bytes as if they were complete: a lone ESC is the Escape key,
// ESC and a character is that character with Alt. The owner calls Flush when Wait has
// passed without input. A paste stays open.
func (d *Decoder) Flush() []Event {
	if d.in == insidePaste {
		return nil
	}
	held, in := d.held, d.in
	d.held, d.in = nil, insideNothing
	switch {
	case len(held) == 0:
		return nil
	case in != insideNothing:
		return []Event{{Kind: ReplyEvent, Raw: held}}
	case held[0] != esc:
		return []Event{{Kind: UnknownEvent, Raw: held}}
	case len(held) == 1:
		return []Event{{Kind: KeyEvent, Key: Key{Code: KeyEscape}, Raw: held}}
	case len(held) == 2 && held[1] < utf8.RuneSelf:
		return []Event{{Kind: KeyEvent, Key: altKey(asciiKey(held[1])), Raw: held}}
	case held[1] == esc:
		first := Event{Kind: KeyEvent, Key: Key{Code: KeyEscape}, Raw: held[:1:1]}
		d.held = held[1:]
		return append([]Event{first}, d.Flush()...)
	case stringIntroducer(held[1]):
		return []Event{{Kind: ReplyEvent, Raw: held}}
	}
	return []Event{{Kind: UnknownEvent, Raw: held}}
}

// Close ends the input. It returns the held bytes as events and ends an open paste.
func (d *Decoder) Close() []Event {
	if d.in != insidePaste {
		return d.Flush()
	}
	held := d.held
	d.held, d.in = nil, insideNothing
	return []Event{{Kind: PasteEvent, Paste: Paste{End: true, Data: held}, Raw: held}}
}

// decode decodes buf and takes ownership of it: events and held bytes refer to it.
func (d *Decoder) decode(buf []byte) []Event {
	d.held = nil
	events := make([]Event, 0, min(1+len(buf)/8, 16))
	for len(buf) > 0 {
		ev, n := d.next(buf)
		if n == 0 {
			if len(buf) <= maxSequence || d.in != insideNothing {
				d.held = buf
				break
			}
			ev, n = d.overlong(buf)
		}
		ev.Raw = buf[:n:n]
		events = append(events, ev)
		buf = buf[n:]
	}
	return events
}

// next reads one event from the start of buf and returns how many bytes it used, or
// zero when it needs more.
func (d *Decoder) next(buf []byte) (Event, int) {
	switch d.in {
	case insidePaste:
		return d.paste(buf)
	case insideString, insideSequence:
		return d.skip(buf)
	}
	switch c := buf[0]; {
	case c == esc:
		return d.escape(buf)
	case c < utf8.RuneSelf:
		return Event{Kind: KeyEvent, Key: asciiKey(c)}, 1
	}
	if !utf8.FullRune(buf) {
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(buf)
	if r == utf8.RuneError && n == 1 {
		return Event{Kind: UnknownEvent}, 1
	}
	return Event{Kind: KeyEvent, Key: textKey(r)}, n
}

// paste reads a piece of a paste: up to the end marker or, if that has not come yet, up
// to where a piece may end.
func (d *Decoder) paste(buf []byte) (Event, int) {
	if i := bytes.Index(buf, pasteEnd); i >= 0 {
		d.in = insideNothing
		return Event{Kind: PasteEvent, Paste: Paste{End: true, Data: buf[:i:i]}}, i + len(pasteEnd)
	}
	n := pieceEnd(buf)
	return Event{Kind: PasteEvent, Paste: Paste{Data: buf[:n:n]}}, n
}

// pieceEnd returns where a piece of pasted text may end: not within a marker, a CR LF or
// a character.
func pieceEnd(buf []byte) int {
	n := len(buf)
	for _, csi := range introducers {
		mark := csi + pasteEndTail
		for k := min(len(mark)-1, len(buf)); k > 0; k-- {
			if bytes.HasSuffix(buf, []byte(mark[:k])) {
				n = min(n, len(buf)-k)
				break
			}
		}
	}
	if n == len(buf) && buf[n-1] == '\r' {
		n--
	}
	for k := 1; k < utf8.UTFMax && k <= n; k++ {
		if !utf8.RuneStart(buf[n-k]) {
			continue
		}
		if !utf8.FullRune(buf[n-k : n]) {
			n -= k
		}
		break
	}
	return n
}

// overlong returns the part of a sequence that has become too long to hold, and makes
// the Decoder skip the rest.
func (d *Decoder) overlong(buf []byte) (Event, int) {
	if buf[1] == esc {
		return Event{Kind: KeyEvent, Key: Key{Code: KeyEscape}}, 1
	}
	d.in = insideSequence
	n := len(buf)
	if stringIntroducer(buf[1]) {
		d.in = insideString
		if buf[n-1] == esc {
			n-- // it may be the first half of the terminator
		}
	}
	return Event{Kind: ReplyEvent}, n
}

// skip reads more of an overlong sequence, up to its end if buf has it.
func (d *Decoder) skip(buf []byte) (Event, int) {
	n := 0
	if d.in == insideSequence {
		for n < len(buf) && buf[n] >= 0x20 && buf[n] < 0x40 {
			n++
		}
		if n < len(buf) {
			d.in = insideNothing
			if buf[n] >= 0x40 && buf[n] < 0x7f {
				n++
			}
		}
	} else {
		end, done := stringEnd(buf, 0)
		n = end
		if done {
			d.in = insideNothing
		}
	}
	if n == 0 && d.in == insideNothing {
		return d.next(buf)
	}
	return Event{Kind: ReplyEvent}, n
}
