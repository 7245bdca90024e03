package term

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DumpText writes the screen's rows as plain lines, without trailing blanks.
func (s *Screen) DumpText(w io.Writer) error {
	var f Frame
	s.Snapshot(&f, 0)
	out := bufio.NewWriter(w)
	var b strings.Builder
	for y := range f.Lines {
		b.Reset()
		writeText(&b, trimBlank(f.Lines[y].Cells))
		_, _ = out.WriteString(strings.TrimRight(b.String(), " "))
		_ = out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write screen as text: %w", err)
	}
	return nil
}

// DumpANSI writes the screen's rows as lines with escape sequences for colors and
// attributes, to be shown by a terminal.
func (s *Screen) DumpANSI(w io.Writer) error {
	var f Frame
	s.Snapshot(&f, 0)
	out := bufio.NewWriter(w)
	for y := range f.Lines {
		writeANSI(out, trimBlank(f.Lines[y].Cells))
		_ = out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write screen as ANSI text: %w", err)
	}
	return nil
}

// writeANSI writes one line of cells; every line starts and ends with the
// default style.
func writeANSI(out *bufio.Writer, cells []Cell) {
	var style Style
	for i := range cells {
		c := &cells[i]
		if c.Width == 0 {
			continue
		}
		if c.Style.Link != style.Link {
			fmt.Fprintf(out, "\x1b]8;;%s\x1b\\", c.Style.Link)
		}
		if c.Style != style {
			a := attrs{
				fg: c.Style.FG, bg: c.Style.BG, underlineColor: c.Style.UnderlineColor,
				attr: c.Style.Attr, underline: c.Style.Underline,
			}
			fmt.Fprintf(out, "\x1b[%sm", a.sgr())
			style = c.Style
		}
		_, _ = out.WriteString(c.text())
	}
	if style.Link != "" {
		_, _ = out.WriteString("\x1b]8;;\x1b\\")
	}
	if style != (Style{}) {
		_, _ = out.WriteString("\x1b[m")
	}
}
