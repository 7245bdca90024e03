package keys

import (
	"strconv"
	"unicode/utf8"
)

// alternateScrollLines is how many cursor keys one wheel event becomes for a program on
// the alternate screen that has not set a mouse mode.
const alternateScrollLines = 3

// Wants reports whether a program in the modes m gets the mouse event. If not, the
// caller may use the event for something else.
func (m Modes) Wants(e Mouse) bool {
	switch m.Mouse {
	case MouseX10:
		return e.Action == MousePress && e.Button >= ButtonLeft && e.Button <= ButtonRight
	case MouseClick:
		return e.Action != MouseMove
	case MouseDrag:
		return e.Action != MouseMove || e.Button != ButtonNone
	case MouseMotion:
		return true
	}
	return m.scrolls(e)
}

// scrolls reports whether the event is a wheel that becomes cursor keys.
func (m Modes) scrolls(e Mouse) bool {
	return m.Mouse == MouseOff && m.AlternateScroll && m.AltScreen &&
		(e.Button == WheelUp || e.Button == WheelDown) && e.Action == MousePress
}

func appendMouse(dst []byte, e Mouse, m Modes) []byte {
	switch {
	case e.X < 0 || e.Y < 0 || !m.Wants(e):
		return dst
	case m.scrolls(e):
		k := Key{Code: KeyUp}
		if e.Button == WheelDown {
			k.Code = KeyDown
		}
		for range alternateScrollLines {
			dst = appendKey(dst, Event{Kind: KeyEvent, Key: k}, m)
		}
		return dst
	}
	sgr := m.MouseFormat == MouseSGR || m.MouseFormat == MousePixels
	b := buttonNumber(e, sgr)
	if m.Mouse == MouseX10 {
		b &^= mouseShift | mouseAlt | mouseCtrl
	}
	switch {
	case m.MouseFormat == MousePixels:
		return appendSGRMouse(dst, b, e.X*CellWidth+CellWidth/2, e.Y*CellHeight+CellHeight/2, e.Action)
	case sgr:
		return appendSGRMouse(dst, b, e.X+1, e.Y+1, e.Action)
	}
	return appendLegacyMouse(dst, b, e, m.MouseFormat == MouseUTF8)
}

// appendSGRMouse writes CSI < b ; x ; y M, or m for a release.
func appendSGRMouse(dst []byte, b, x, y int, a MouseAction) []byte {
	dst = append(dst, "\x1b[<"...)
	dst = strconv.AppendInt(dst, int64(b), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(x), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(y), 10)
	if a == MouseRelease {
		return append(dst, 'm')
	}
	return append(dst, 'M')
}

// appendLegacyMouse writes CSI M and three characters, bytes or, in mode 1005, UTF-8.
func appendLegacyMouse(dst []byte, b int, e Mouse, inUTF8 bool) []byte {
	limit := 255
	if inUTF8 {
		limit = 2047
	}
	if e.X+33 > limit || e.Y+33 > limit {
		return dst // the format cannot express this position
	}
	dst = append(dst, "\x1b[M"...)
	for _, v := range [...]int{b + 32, e.X + 33, e.Y + 33} {
		if inUTF8 {
			dst = utf8.AppendRune(dst, rune(v))
		} else {
			dst = append(dst, byte(v))
		}
	}
	return dst
}

// buttonNumber returns the event's first number. Only the SGR format says which button
// was released.
func buttonNumber(e Mouse, sgr bool) int {
	b := 3
	switch {
	case e.Action == MouseRelease && !sgr:
	case e.Button >= Button8:
		b = mouseExtra + int(e.Button-Button8)
	case e.Button >= WheelUp:
		b = mouseWheel + int(e.Button-WheelUp)
	case e.Button >= ButtonLeft:
		b = int(e.Button - ButtonLeft)
	}
	if e.Action == MouseMove {
		b += mouseMotion
	}
	if e.Mods&Shift != 0 {
		b += mouseShift
	}
	if e.Mods&Alt != 0 {
		b += mouseAlt
	}
	if e.Mods&Ctrl != 0 {
		b += mouseCtrl
	}
	return b
}
