package keys

import (
	"bytes"
	"unicode/utf8"
)

// Encode is AppendEncode to a new slice. It returns nil when the program gets nothing.
func Encode(ev Event, m Modes) []byte { return AppendEncode(nil, ev, m) }

// AppendEncode appends to dst the bytes that a program in the modes m gets for ev. It
// appends nothing for mouse and focus events that the program did not ask for, for key
// releases, and for answers of the person's terminal, which only this program may get.
// Unknown events are passed on unchanged.
func AppendEncode(dst []byte, ev Event, m Modes) []byte {
	switch ev.Kind {
	case KeyEvent:
		return appendKey(dst, ev, m)
	case PasteEvent:
		return appendPaste(dst, ev.Paste, m)
	case MouseEvent:
		return appendMouse(dst, ev.Mouse, m)
	case FocusEvent:
		switch {
		case !m.FocusEvents:
			return dst
		case ev.Focused:
			return append(dst, "\x1b[I"...)
		}
		return append(dst, "\x1b[O"...)
	case UnknownEvent:
		return append(dst, ev.Raw...)
	}
	return dst
}

// appendPaste writes a piece of a paste: between markers if the program asked for them,
// else like typed text, with an Enter for every line end.
func appendPaste(dst []byte, p Paste, m Modes) []byte {
	if !m.BracketedPaste {
		return appendTyped(dst, p.Data)
	}
	if p.Start {
		dst = append(dst, pasteStart...)
	}
	dst = appendUnmarked(dst, p.Data)
	if p.End {
		dst = append(dst, pasteEnd...)
	}
	return dst
}

// appendUnmarked appends data and replaces the CSI of every end marker in it by U+FFFD,
// so that pasted text cannot end the paste and continue as if it were typed. It does not
// delete the CSI, because the bytes before and after it, or another piece of the paste,
// could then form a marker.
func appendUnmarked(dst, data []byte) []byte {
	for len(data) > 0 {
		i := bytes.Index(data, []byte(pasteEndTail))
		if i < 0 {
			return append(dst, data...)
		}
		head := data[:i]
		if n := introducerSize(head); n > 0 {
			dst = append(dst, head[:len(head)-n]...)
			dst = utf8.AppendRune(dst, utf8.RuneError)
		} else {
			dst = append(dst, head...)
		}
		dst = append(dst, pasteEndTail...)
		data = data[i+len(pasteEndTail):]
	}
	return dst
}

// introducerSize returns how many bytes at the end of text are a CSI. A byte that is the
// last one of a longer character is not a CSI.
func introducerSize(text []byte) int {
	for _, csi := range introducers {
		if !bytes.HasSuffix(text, []byte(csi)) {
			continue
		}
		if r, _ := utf8.DecodeLastRune(text); len(csi) > 1 || r == utf8.RuneError {
			return len(csi)
		}
	}
	return 0
}

// appendTyped appends data with CR LF and LF replaced by CR, which is what Enter sends.
func appendTyped(dst, data []byte) []byte {
	for i, c := range data {
		switch {
		case c != '\n':
			dst = append(dst, c)
		case i == 0 || data[i-1] != '\r':
			dst = append(dst, '\r')
		}
	}
	return dst
}
