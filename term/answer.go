package term

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// versionAnswer is what XTVERSION names.
const versionAnswer = "ironcurtain-mux(0.1)"

// maxReplies bounds the answers waiting for the program, in bytes. A program
// that asks and never reads loses the later ones.
const maxReplies = 64 << 10

// answer queues an answer to the program.
func (e *emulator) answer(format string, args ...any) {
	if len(e.replies) > maxReplies {
		return
	}
	e.replies = fmt.Appendf(e.replies, format, args...)
}

func (e *emulator) answerPrimaryAttributes() { e.answer("\x1b[?62;22c") }

// answerStatus is DSR and CPR.
func (e *emulator) answerStatus() {
	switch e.param(0, 0) {
	case 5:
		e.answer("\x1b[0n")
	case 6:
		x, y := e.reported()
		e.answer("\x1b[%d;%dR", y, x)
	}
}

// answerPrivateStatus is DECXCPR and the question for light or dark.
func (e *emulator) answerPrivateStatus() {
	switch e.param(0, 0) {
	case 6:
		x, y := e.reported()
		e.answer("\x1b[?%d;%d;1R", y, x)
	case 996:
		e.reportTheme()
	}
}

// reportTheme is the report of mode 2031: dark or light.
func (e *emulator) reportTheme() {
	theme := 2
	if e.background.Dark() {
		theme = 1
	}
	e.answer("\x1b[?997;%dn", theme)
}

// reported is the cursor's one-based position as programs are told it.
func (e *emulator) reported() (x, y int) {
	x0, y0 := e.origin()
	return e.column() - x0 + 1, e.y - y0 + 1
}

// answerModeRequest is DECRQM: 1 set, 2 reset, 0 not known.
func (e *emulator) answerModeRequest() {
	n := e.param(0, 0)
	state := func(on, known bool) int {
		switch {
		case !known:
			return 0
		case on:
			return 1
		}
		return 2
	}
	switch {
	case e.prefix == '?':
		e.answer("\x1b[?%d;%d$y", n, state(e.modeState(n)))
	case e.prefix != 0:
	case n == 4:
		e.answer("\x1b[4;%d$y", state(e.insert, true))
	case n == 20:
		e.answer("\x1b[20;%d$y", state(e.newline, true))
	default:
		e.answer("\x1b[%d;0$y", n)
	}
}

// windowRequest answers questions for sizes and keeps the stack of titles; a
// program never moves or resizes anything.
func (e *emulator) windowRequest() {
	switch e.param(0, 0) {
	case 14:
		e.answer("\x1b[4;%d;%dt", e.rows*keys.CellHeight, e.cols*keys.CellWidth)
	case 16:
		e.answer("\x1b[6;%d;%dt", keys.CellHeight, keys.CellWidth)
	case 18:
		e.answer("\x1b[8;%d;%dt", e.rows, e.cols)
	case 19:
		e.answer("\x1b[9;%d;%dt", e.rows, e.cols)
	case 22:
		if e.param(1, 0) != 1 && len(e.titleStack) < 16 {
			e.titleStack = append(e.titleStack, e.title)
		}
	case 23:
		if n := len(e.titleStack); e.param(1, 0) != 1 && n > 0 {
			e.setTitle(e.titleStack[n-1])
			e.titleStack = e.titleStack[:n-1]
		}
	}
}

// reportSize is the report of mode 2048.
func (e *emulator) reportSize() {
	e.answer("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*keys.CellHeight, e.cols*keys.CellWidth)
}

// dispatchDCS answers DECRQSS and XTGETTCAP; other strings are ignored.
func (e *emulator) dispatchDCS(s []byte) {
	if bytes.HasPrefix(s, []byte("+q")) {
		e.answer("\x1bP0+r\x1b\\")
		return
	}
	setting, ok := bytes.CutPrefix(s, []byte("$q"))
	if !ok {
		return
	}
	switch string(setting) {
	case "m":
		e.answer("\x1bP1$r%sm\x1b\\", e.pen.sgr())
	case "r":
		e.answer("\x1bP1$r%d;%dr\x1b\\", e.top+1, e.bottom+1)
	case "s":
		e.answer("\x1bP1$r%d;%ds\x1b\\", e.left+1, e.right)
	case " q":
		e.answer("\x1bP1$r%d q\x1b\\", e.shape)
	case "\"p":
		e.answer("\x1bP1$r62;1\"p\x1b\\")
	case "\"q":
		e.answer("\x1bP1$r%d\"q\x1b\\", e.pen.attr&protected>>15)
	default:
		e.answer("\x1bP0$r\x1b\\")
	}
}

// sgr spells the style as SGR parameters that set it from any other.
func (a *attrs) sgr() string {
	var b strings.Builder
	b.WriteByte('0')
	for n, attr := range sgrAttrs {
		if attr != 0 && n != 6 && a.attr&attr != 0 {
			fmt.Fprintf(&b, ";%d", n)
		}
	}
	switch a.underline {
	case NoUnderline:
	case SingleUnderline:
		b.WriteString(";4")
	default:
		fmt.Fprintf(&b, ";4:%d", a.underline)
	}
	if a.attr&Overline != 0 {
		b.WriteString(";53")
	}
	a.fg.appendSGR(&b, 38)
	a.bg.appendSGR(&b, 48)
	a.underlineColor.appendSGR(&b, 58)
	return b.String()
}

// appendSGR adds the parameters of a color; which is 38, 48 or 58.
func (c Color) appendSGR(b *strings.Builder, which int) {
	if n, ok := c.Palette(); ok {
		switch {
		case n < 8 && which != 58:
			fmt.Fprintf(b, ";%d", which-8+int(n))
		case n < 16 && which != 58:
			fmt.Fprintf(b, ";%d", which+52+int(n)-8)
		case which == 58:
			fmt.Fprintf(b, ";58:5:%d", n)
		default:
			fmt.Fprintf(b, ";%d;5;%d", which, n)
		}
		return
	}
	r, g, bl, ok := c.RGB()
	switch {
	case !ok:
	case which == 58:
		fmt.Fprintf(b, ";58:2::%d:%d:%d", r, g, bl)
	default:
		fmt.Fprintf(b, ";%d;2;%d;%d;%d", which, r, g, bl)
	}
}
