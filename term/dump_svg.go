package term

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Measures of a drawn cell, in the units of the picture.
const (
	svgWidth    = 8.4
	svgHeight   = 18
	svgBaseline = 13.5
	svgMargin   = 10
	svgFont     = 14
)

// svgPainter draws one frame.
type svgPainter struct {
	out    *bufio.Writer
	fg, bg Color
}

// DumpSVG draws the screen as an SVG picture, with the default colors that the screen
// reports for OSC 10 and 11.
func (s *Screen) DumpSVG(w io.Writer) error {
	var f Frame
	s.Snapshot(&f, 0)
	p := svgPainter{out: bufio.NewWriter(w), fg: defaultForeground, bg: defaultBackground}
	s.mu.Lock()
	if s.emulator != nil {
		_, p.fg = s.emulator.dynamicColor(10)
		_, p.bg = s.emulator.dynamicColor(11)
	}
	s.mu.Unlock()
	width := float64(f.Cols)*svgWidth + 2*svgMargin
	height := f.Rows*svgHeight + 2*svgMargin
	fmt.Fprintf(p.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n",
		width, height, width, height)
	if f.Title != "" {
		fmt.Fprintf(p.out, "<title>%s</title>\n", svgText(f.Title))
	}
	fmt.Fprintf(p.out, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", svgColor(p.bg, p.bg))
	fmt.Fprintf(p.out, `<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d" xml:space="preserve">`+"\n", svgFont)
	for y := range f.Lines {
		p.line(y, f.Lines[y].Cells)
	}
	if f.Cursor.Visible {
		p.cursor(f.Cursor)
	}
	fmt.Fprint(p.out, "</g>\n</svg>\n")
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("draw screen: %w", err)
	}
	return nil
}

// line draws a row in runs of one style.
func (p *svgPainter) line(y int, cells []Cell) {
	for x := 0; x < len(cells); {
		end := x + 1
		for end < len(cells) && cells[end].Style == cells[x].Style {
			end++
		}
		p.run(x, y, cells[x:end])
		x = end
	}
}

// run draws cells that share a style: first their background, then each word. Words are
// placed one by one, so that a font of another width cannot move text out of its
// columns.
func (p *svgPainter) run(x, y int, cells []Cell) {
	style := cells[0].Style
	fg, bg := svgColor(style.FG, p.fg), svgColor(style.BG, p.bg)
	filled := style.BG != 0
	if style.Attr&Inverse != 0 {
		fg, bg, filled = bg, fg, true
	}
	left, top := svgMargin+float64(x)*svgWidth, svgMargin+y*svgHeight
	if filled {
		fmt.Fprintf(p.out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
			left, top, float64(len(cells))*svgWidth, svgHeight, bg)
	}
	if style.Attr&Hidden != 0 {
		return
	}
	look := svgLook(style)
	for i := 0; i < len(cells); {
		if cells[i].Rune == 0 || cells[i].Rune == ' ' && look == "" {
			i++
			continue
		}
		end := i
		var text strings.Builder
		for end < len(cells) && (cells[end].Width == 0 || cells[end].Rune > ' ' || look != "" && cells[end].Rune == ' ') {
			text.WriteString(cells[end].text())
			end++
		}
		fmt.Fprintf(p.out, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
			left+float64(i)*svgWidth, float64(top)+svgBaseline, float64(end-i)*svgWidth, fg, look, svgText(text.String()))
		i = end
	}
}

// svgLook returns the SVG attributes for a style's attributes.
func svgLook(style Style) string {
	var look string
	if style.Attr&Bold != 0 {
		look += ` font-weight="bold"`
	}
	if style.Attr&Italic != 0 {
		look += ` font-style="italic"`
	}
	if style.Attr&Dim != 0 {
		look += ` opacity="0.6"`
	}
	var lines []string
	if style.Underline != NoUnderline {
		lines = append(lines, "underline")
	}
	if style.Attr&Strike != 0 {
		lines = append(lines, "line-through")
	}
	if style.Attr&Overline != 0 {
		lines = append(lines, "overline")
	}
	if lines != nil {
		look += ` text-decoration="` + strings.Join(lines, " ") + `"`
	}
	return look
}

// cursor draws the cursor over its cell.
func (p *svgPainter) cursor(c Cursor) {
	x, y := svgMargin+float64(c.X)*svgWidth, svgMargin+float64(c.Y*svgHeight)
	w, h := svgWidth, float64(svgHeight)
	switch c.Shape {
	case CursorUnderline, CursorBlinkingUnderline:
		y, h = y+h-2, 2
	case CursorBar, CursorBlinkingBar:
		w = 1.5
	}
	fmt.Fprintf(p.out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="0.6"/>`+"\n",
		x, y, w, h, svgColor(p.fg, p.fg))
}

// svgText returns s escaped for XML.
func svgText(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, s))
}

// svgColor returns a color in SVG notation; the default color becomes fallback.
func svgColor(c, fallback Color) string {
	r, g, b := c.resolve(fallback)
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}
