package term

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// dispatchDCS answers DECRQSS and XTGETTCAP; other strings are ignored.
func (e *emulator) dispatchDCS(s []byte) {
	if names, ok := bytes.CutPrefix(s, []byte("+q")); ok {
		e.answerTerminfo(string(names))
		return
	}
	setting, ok := bytes.CutPrefix(s, []byte("$q"))
	if !ok {
		return
	}
	if value, ok := e.setting(string(setting)); ok {
		e.answer("\x1bP1$r%s%s\x1b\\", value, setting)
		return
	}
	e.answer("\x1bP0$r\x1b\\")
}

// setting returns a setting for the answer to DECRQSS. name is the end of the sequence
// that sets it.
func (e *emulator) setting(name string) (value string, ok bool) {
	switch name {
	case "m":
		return e.pen.sgr(), true
	case "r":
		return fmt.Sprintf("%d;%d", e.top+1, e.bottom+1), true
	case "s":
		return fmt.Sprintf("%d;%d", e.left+1, e.right), true
	case "t", "*|": // rows
		return strconv.Itoa(e.rows), true
	case "$|": // columns
		return strconv.Itoa(e.cols), true
	case " q":
		return strconv.Itoa(int(e.shape)), true
	case "\"p":
		return fmt.Sprintf("6%d;1", e.level), true
	case "\"q":
		return strconv.Itoa(int(e.pen.attr & protected >> 15)), true
	case "*x":
		return strconv.Itoa(e.extent), true
	case "$}", "$~": // there is no status line
		return "0", true
	}
	return "", false
}

// answerTerminfo answers XTGETTCAP, but only for the number of colors. For all other
// capabilities, the terminfo entry of TERM applies.
func (e *emulator) answerTerminfo(names string) {
	for name := range strings.SplitSeq(names, ";") {
		switch plain, _ := hex.DecodeString(name); string(plain) {
		case "Co", "colors":
			e.answer("\x1bP1+r%s=%x\x1b\\", name, "256")
		default:
			e.answer("\x1bP0+r\x1b\\")
			return
		}
	}
}

// sgr returns the SGR parameters that set this style, whatever the style before.
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
