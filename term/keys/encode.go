package keys

import "bytes"

// Encode is AppendEncode to a fresh slice; nil when the program gets nothing.
func Encode(ev Event, m Modes) []byte { return AppendEncode(nil, ev, m) }

// AppendEncode appends to dst what a program in the modes m gets for ev, which
// may be nothing: mouse and focus events it did not ask for, key releases, and
// answers of the person's terminal, which are for nobody else. Bytes that could
// not be read as anything go through as they came.
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

// appendPaste writes a piece of a paste: between markers when the program asked
// for them, else as typed, with every line end an Enter.
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

// pasteMarks are the ways to write the end of a paste, with CSI in 7 bits and
// in 8.
var pasteMarks = [][]byte{pasteEnd, []byte("\xc2\x9b201~"), []byte("\x9b201~")}

// appendUnmarked appends data without any end marker, so that what was pasted
// cannot end the paste and go on as if it were typed. What becomes a marker when
// one within it is gone, goes as well.
func appendUnmarked(dst, data []byte) []byte {
	start := len(dst)
	for _, c := range data {
		dst = append(dst, c)
		if c != '~' {
			continue
		}
		for _, mark := range pasteMarks {
			if bytes.HasSuffix(dst[start:], mark) {
				dst = dst[:len(dst)-len(mark)]
			}
		}
	}
	return dst
}

// appendTyped appends data with CR LF and LF as CR, which is what Enter sends.
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
