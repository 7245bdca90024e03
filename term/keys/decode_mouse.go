package keys

import "unicode/utf8"

// Bits of the button number in every mouse format.
const (
	mouseShift  = 4
	mouseAlt    = 8
	mouseCtrl   = 16
	mouseMotion = 32
	mouseWheel  = 64
	mouseExtra  = 128
)

// sgrMouse reads CSI < b ; x ; y M, or m for a release.
func sgrMouse(s sequence) Event {
	p := s.params()
	if len(p) != 3 {
		return Event{Kind: UnknownEvent}
	}
	m := mouse(p[0], p[1], p[2])
	if s.final == 'm' {
		m.Action = MouseRelease
	}
	return Event{Kind: MouseEvent, Mouse: m}
}

// urxvtMouse reads CSI b ; x ; y M of mode 1015, whose b is 32 larger, as in the oldest
// format.
func urxvtMouse(s sequence) Event {
	p := s.params()
	if len(p) != 3 || p[0] < 32 {
		return Event{Kind: UnknownEvent}
	}
	return Event{Kind: MouseEvent, Mouse: legacyRelease(mouse(p[0]-32, p[1], p[2]))}
}

// legacyMouse reads CSI M and three characters, bytes or, in mode 1005, UTF-8.
func (d *Decoder) legacyMouse(buf []byte) (Event, int) {
	var v [3]int
	n := 3
	for i := range v {
		if n == len(buf) {
			return Event{}, 0
		}
		size := 1
		v[i] = int(buf[n])
		if d.UTF8Mouse && buf[n] >= utf8.RuneSelf {
			if !utf8.FullRune(buf[n:]) {
				return Event{}, 0
			}
			var r rune
			r, size = utf8.DecodeRune(buf[n:])
			v[i] = int(r)
		}
		n += size
	}
	if v[0] < 32 || v[1] < 32 || v[2] < 32 {
		return Event{Kind: UnknownEvent}, n
	}
	return Event{Kind: MouseEvent, Mouse: legacyRelease(mouse(v[0]-32, v[1]-32, v[2]-32))}, n
}

// mouse decodes the button number; x and y count from 1.
func mouse(b, x, y int) Mouse {
	m := Mouse{X: x - 1, Y: y - 1}
	if b&mouseShift != 0 {
		m.Mods |= Shift
	}
	if b&mouseAlt != 0 {
		m.Mods |= Alt
	}
	if b&mouseCtrl != 0 {
		m.Mods |= Ctrl
	}
	if b&mouseMotion != 0 {
		m.Action = MouseMove
	}
	switch low := Button(b & 3); {
	case b&mouseExtra != 0:
		m.Button = Button8 + low
	case b&mouseWheel != 0:
		m.Button = WheelUp + low
	case low < 3:
		m.Button = ButtonLeft + low
	}
	return m
}

// legacyRelease turns a press without a button into a release, because the older formats
// write the release of any button like that.
func legacyRelease(m Mouse) Mouse {
	if m.Button == ButtonNone && m.Action == MousePress {
		m.Action = MouseRelease
	}
	return m
}
