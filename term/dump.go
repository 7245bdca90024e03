package term

import (
	"bufio"
	"encoding/json"
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

// screenJSON is a screen as DumpJSON writes it.
type screenJSON struct {
	Cols       int          `json:"cols"`
	Rows       int          `json:"rows"`
	Cursor     cursorJSON   `json:"cursor"`
	Title      string       `json:"title"`
	AltScreen  bool         `json:"altScreen"`
	Modes      []int        `json:"modes"`
	Scrollback int          `json:"scrollback"`
	Replies    string       `json:"replies"`
	Lines      [][]cellJSON `json:"lines"`
}

type cursorJSON struct {
	X       int    `json:"x"`
	Y       int    `json:"y"`
	Visible bool   `json:"visible"`
	Shape   string `json:"shape"`
}

// cellJSON is one cell. Its JSON leaves out members with default values.
type cellJSON struct {
	text  string
	width int
	style Style
}

// shapeNames name the cursor shapes.
var shapeNames = [...]string{
	"default", "blinking-block", "block", "blinking-underline", "underline", "blinking-bar", "bar",
}

// attrNames name the attributes, in the order of their bits.
var attrNames = [...]string{
	"bold", "dim", "italic", "blink", "inverse", "hidden", "strike", "overline",
}

// underlineNames name the underline styles.
var underlineNames = [...]string{"", "single", "double", "curly", "dotted", "dashed"}

// DumpJSON writes the screen as one JSON object. replies are the answers to the
// program. Modes are the numbers of the private modes that are set.
func (s *Screen) DumpJSON(w io.Writer, replies []byte) error {
	var f Frame
	s.Snapshot(&f, 0)
	out := screenJSON{
		Cols: f.Cols, Rows: f.Rows,
		Cursor: cursorJSON{f.Cursor.X, f.Cursor.Y, f.Cursor.Visible, shapeNames[f.Cursor.Shape]},
		Title:  f.Title, AltScreen: f.AltScreen,
		Modes: s.privateModes(), Scrollback: f.Scrollback, Replies: string(replies),
		Lines: make([][]cellJSON, len(f.Lines)),
	}
	for y := range f.Lines {
		out.Lines[y] = make([]cellJSON, len(f.Lines[y].Cells))
		for x := range f.Lines[y].Cells {
			c := &f.Lines[y].Cells[x]
			out.Lines[y][x] = cellJSON{c.text(), int(c.Width), c.Style}
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("write screen as JSON: %w", err)
	}
	return nil
}

// privateModes returns the numbers of the private modes that are set, in ascending
// order. It leaves out 1007, which only concerns the mouse wheel and is set from the
// start.
func (s *Screen) privateModes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	modes := []int{}
	if s.emulator == nil {
		return modes
	}
	for n := 1; n <= 2048; n++ {
		if s.emulator.privateModeReport(n) == modeIsSet && n != 1007 {
			modes = append(modes, n)
		}
	}
	return modes
}

// text returns the cell's text: a space for a blank, an empty string for the second
// half of a wide character.
func (c *Cell) text() string {
	switch {
	case c.Width == 0:
		return ""
	case c.Rune == 0:
		return " "
	}
	return string(c.Rune) + c.Marks
}

// MarshalJSON writes the members that differ from their defaults.
func (c cellJSON) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(c.text)
	if err != nil {
		return nil, err
	}
	if c.width == 0 {
		return []byte(`{"c":"","w":0}`), nil
	}
	out := fmt.Appendf(nil, `{"c":%s,"w":%d,"fg":%s,"bg":%s`, text, c.width,
		c.style.FG.json(), c.style.BG.json())
	for i, comma := 0, `,"a":[`; i < len(attrNames); i++ {
		if c.style.Attr&(1<<i) != 0 {
			out = fmt.Appendf(out, `%s"%s"`, comma, attrNames[i])
			comma = ","
		}
	}
	if c.style.Attr != 0 {
		out = append(out, ']')
	}
	if u := c.style.Underline; u != NoUnderline {
		if c.style.Attr == 0 {
			out = append(out, `,"a":["underline"]`...)
		} else {
			out = append(out[:len(out)-1], `,"underline"]`...)
		}
		out = fmt.Appendf(out, `,"us":"%s"`, underlineNames[u])
	}
	if c.style.UnderlineColor != 0 {
		out = fmt.Appendf(out, `,"uc":%s`, c.style.UnderlineColor.json())
	}
	if c.style.Link != "" {
		link, err := json.Marshal(c.style.Link)
		if err != nil {
			return nil, err
		}
		out = fmt.Appendf(out, `,"link":%s`, link)
	}
	return append(out, '}'), nil
}

// json returns the color as a JSON value: null, a palette index or "#rrggbb".
func (c Color) json() string {
	if n, ok := c.Palette(); ok {
		return fmt.Sprint(n)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf(`"#%02x%02x%02x"`, r, g, b)
	}
	return "null"
}
