package term

// parserState says what the next byte belongs to.
type parserState uint8

const (
	ground  parserState = iota // text and controls
	escape                     // after ESC, perhaps with intermediate bytes
	control                    // a control sequence, after CSI
	str                        // an OSC, DCS, APC, PM or SOS string
)

// Bounds of one sequence. The parser reads a sequence that exceeds them to its end and
// ignores it.
const (
	maxParams = 32
	maxParam  = 1 << 24
	maxString = 1 << 20 // payload of OSC, for clipboard contents
	maxDCS    = 4 << 10
)

// parser is the state between bytes. The same bytes give the same screen however they
// are split into writes.
type parser struct {
	state parserState

	params    [maxParams]int32 // -1 where the sequence left one out
	count     int              // of params in use
	subs      uint32           // bit i: parameter i was joined to the one before by a colon
	prefix    byte             // one of < = > ? or 0
	inter     byte             // the intermediate byte, or 0
	malformed bool             // read the sequence to its end and ignore it

	repeatable int // columns of the character right before the sequence

	strKind byte // ']' OSC, 'P' DCS, others are dropped
	strLast byte // the previous byte of the string
	payload []byte
	dropped bool // the payload was too long

	partial  [4]byte // first bytes of a character that the last write did not complete
	partials int
}

// maxWork is how many cells sequences may change in bulk before write returns. A few
// bytes can change a whole screen, so without this bound a program that repeats and
// erases without pause would keep the screen locked for seconds.
const maxWork = 1 << 16

// write interprets p until it has done maxWork, and returns the rest.
func (e *emulator) write(p []byte) (rest []byte) {
	for e.work = 0; len(p) > 0 && e.work < maxWork; {
		switch e.state {
		case ground:
			p = e.readGround(p)
		case escape:
			p = e.readEscape(p)
		case control:
			p = e.readControl(p)
		case str:
			p = e.readString(p)
		}
	}
	return p
}

// readGround prints text and executes control characters until a sequence begins. It
// returns the remaining bytes.
func (e *emulator) readGround(p []byte) []byte {
	if e.partials > 0 {
		if p = e.finishPartial(p); e.state != ground {
			return p
		}
	}
	for i := 0; i < len(p); {
		b := p[i]
		switch {
		case b >= 0x20 && b < 0x7f:
			end := i + 1
			for end < len(p) && p[end] >= 0x20 && p[end] < 0x7f {
				end++
			}
			e.printASCII(p[i:end])
			i = end
		case b >= 0x80:
			i += e.readText(p[i:])
			if e.state != ground {
				return p[i:]
			}
		case b == 0x1b:
			if i+1 < len(p) && p[i+1] == '[' {
				e.beginEscape()
				e.beginControl()
				return e.readControl(p[i+2:])
			}
			e.beginEscape()
			return p[i+1:]
		default:
			e.c0(b)
			i++
		}
	}
	return nil
}

func (e *emulator) beginEscape() {
	e.state = escape
	e.inter = 0
	e.malformed = false
	e.repeatable, e.lastWidth = e.lastWidth, 0
}

// readEscape reads one byte of an escape sequence.
func (e *emulator) readEscape(p []byte) []byte {
	b := p[0]
	switch {
	case b == 0x1b:
		e.beginEscape()
	case b == 0x18 || b == 0x1a:
		e.state = ground
	case b < 0x20:
		e.c0(b)
	case b < 0x30:
		if e.inter != 0 {
			e.malformed = true
		}
		e.inter = b
	case b == 0x7f:
	case b >= 0x80:
		e.state = ground
	default:
		e.state = ground
		switch {
		case e.malformed:
		case e.inter != 0:
			e.designate(e.inter, b)
		default:
			e.dispatchEscape(b)
		}
	}
	return p[1:]
}

func (e *emulator) beginControl() {
	e.state = control
	e.params[0] = -1
	e.count = 1
	e.subs = 0
	e.prefix, e.inter = 0, 0
	e.malformed = false
}

// readControl reads a control sequence as far as p goes, and executes it at its end.
func (e *emulator) readControl(p []byte) []byte {
	for i, b := range p {
		switch {
		case b >= '0' && b <= '9':
			if e.inter != 0 {
				e.malformed = true
				continue
			}
			v := &e.params[e.count-1]
			if *v < 0 {
				*v = int32(b - '0')
			} else if *v = *v*10 + int32(b-'0'); *v > maxParam {
				*v = maxParam
			}
		case b == ';' || b == ':':
			e.nextParam(b == ':')
		case b >= 0x40 && b < 0x7f:
			e.state = ground
			if !e.malformed {
				e.dispatchControl(b)
			}
			e.lastWidth = 0
			return p[i+1:]
		case b == 0x1b:
			e.beginEscape()
			return p[i+1:]
		case b == 0x18 || b == 0x1a:
			e.state = ground
			return p[i+1:]
		case b < 0x20:
			e.c0(b)
		case b < 0x30:
			if e.inter != 0 {
				e.malformed = true
			}
			e.inter = b
		case b < 0x40: // < = > ?
			if e.prefix != 0 || e.count > 1 || e.params[0] >= 0 || e.inter != 0 {
				e.malformed = true
			}
			e.prefix = b
		}
		// DEL and bytes that are not ASCII are ignored inside a sequence.
	}
	return nil
}

// nextParam starts another parameter; sub means that a colon joins it to the one before.
func (e *emulator) nextParam(sub bool) {
	if e.count == maxParams || e.inter != 0 {
		e.malformed = true
		return
	}
	e.params[e.count] = -1
	if sub {
		e.subs |= 1 << e.count
	}
	e.count++
}

// beginString starts an OSC, DCS, APC, PM or SOS string.
func (e *emulator) beginString(kind byte) {
	e.state = str
	e.strKind = kind
	e.strLast = 0
	e.payload = e.payload[:0]
	e.dropped = false
	e.lastWidth = 0
}

// The two bytes of U+009C in UTF-8, which ends a string as ESC \ does. The first byte
// occurs only at the start of a character.
const (
	terminator0 = 0xc2
	terminator1 = 0x9c
)

// readString collects a string as far as p goes. ESC ends the string; the backslash of
// a proper terminator is then read as an escape sequence that does nothing.
func (e *emulator) readString(p []byte) []byte {
	for i := 0; i < len(p); {
		b := p[i]
		switch {
		case b == terminator1 && e.strLast == terminator0:
			e.state = ground
			e.payload = e.payload[:max(0, len(e.payload)-1)]
			e.endString(false)
			return p[i+1:]
		case b >= 0x20:
			end := i + 1
			for end < len(p) && p[end] >= 0x20 && p[end] != terminator1 {
				end++
			}
			e.collect(p[i:end])
			e.strLast = p[end-1]
			i = end
			continue
		case b == 0x1b:
			e.endString(false)
			e.beginEscape()
			return p[i+1:]
		case b == 0x07 && e.strKind == ']':
			e.state = ground
			e.endString(true)
			return p[i+1:]
		case b == 0x18 || b == 0x1a:
			e.state = ground
			e.releasePayload()
			return p[i+1:]
		}
		e.strLast = b
		i++
	}
	return nil
}

// collect adds to the payload of an OSC or DCS string and drops other strings.
func (e *emulator) collect(p []byte) {
	limit := maxString
	switch e.strKind {
	case ']':
	case 'P':
		limit = maxDCS
	default:
		return
	}
	if e.dropped || len(e.payload)+len(p) > limit {
		e.dropped = true
		return
	}
	e.payload = append(e.payload, p...)
}

// endString executes a complete string.
func (e *emulator) endString(bell bool) {
	if !e.dropped {
		switch e.strKind {
		case ']':
			e.dispatchOSC(e.payload, bell)
		case 'P':
			e.dispatchDCS(e.payload)
		}
	}
	e.releasePayload()
}

// releasePayload empties the payload, and releases the memory of a long one.
func (e *emulator) releasePayload() {
	e.payload = e.payload[:0]
	if cap(e.payload) > 64<<10 {
		e.payload = nil
	}
}
