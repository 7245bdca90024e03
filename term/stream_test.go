package term

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenScreen is a screen as @xterm/headless 6.0.0 shows it, from testdata.
type goldenScreen struct {
	Title      string
	Cols, Rows int
	StartCols  int // and StartRows: the size at first, of a recording
	StartRows  int
	Resizes    [][3]int // offset in the recording, columns, rows
	Cursor     struct {
		X, Y    int
		Visible bool
	}
	AltScreen       bool
	ScrollbackLines int
	Scrollback      []string
	Cells           [][]goldenCell
	B64             string // input, for sequences made by hand
}

// goldenCell is a cell of a golden screen.
type goldenCell struct {
	text       string
	width      int
	fg, bg     string
	attributes int
}

func (c *goldenCell) UnmarshalJSON(data []byte) error {
	var fields []any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	number := func(i int) int { v, _ := fields[i].(float64); return int(v) }
	word := func(i int) string { v, _ := fields[i].(string); return v }
	*c = goldenCell{text: word(0), width: number(1), fg: word(2), bg: word(3), attributes: number(4)}
	return nil
}

// Attribute bits of golden cells.
const (
	goldenUnderline = 8
	goldenVisible   = goldenUnderline | 128 | 256 // what shows on a blank cell
)

// goldenOf converts a Cell to the golden form.
func goldenOf(c Cell) goldenCell {
	text := ""
	if c.Rune != 0 {
		text = string(c.Rune) + c.Marks
	}
	bits := 0
	for i, attr := range []Attr{Bold, Dim, Italic, 0, Blink, Inverse, Hidden, Strike, Overline} {
		if attr != 0 && c.Style.Attr&attr != 0 {
			bits |= 1 << i
		}
	}
	if c.Style.Underline != NoUnderline {
		bits |= goldenUnderline
	}
	return goldenCell{text, int(c.Width), goldenColor(c.Style.FG), goldenColor(c.Style.BG), bits}
}

func goldenColor(c Color) string {
	if n, ok := c.Palette(); ok {
		return fmt.Sprintf("i%d", n)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	return ""
}

// compareCell reports whether text and width agree, and whether colors and attributes
// agree. For blank cells it compares only the background and lines.
func compareCell(got, want goldenCell) (text, look bool) {
	blank := func(s string) bool { return s == "" || s == " " }
	if blank(got.text) && blank(want.text) {
		return got.width == want.width, goldenBackground(got) == goldenBackground(want) &&
			got.attributes&goldenVisible == want.attributes&goldenVisible
	}
	return got.text == want.text && got.width == want.width,
		got.fg == want.fg && got.bg == want.bg && got.attributes == want.attributes
}

// goldenBackground is the color behind a blank cell.
func goldenBackground(c goldenCell) string {
	const inverse = 32
	if c.attributes&inverse != 0 {
		return "inverse " + c.fg
	}
	return c.bg
}

// compareScreen counts the cells that agree, and describes the first that do
// not.
func compareScreen(f *Frame, want *goldenScreen) (text, look, total int, first string) {
	for y := range want.Cells {
		for x, w := range want.Cells[y] {
			got := goldenOf(f.Lines[y].Cells[x])
			t, l := compareCell(got, w)
			total++
			if t {
				text++
			}
			if l {
				look++
			}
			if (!t || !l) && first == "" {
				first = fmt.Sprintf("at %d,%d: got %+v, want %+v", x, y, got, w)
			}
		}
	}
	return text, look, total, first
}

func readGzip(t *testing.T, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatal(path, err)
	}
}

// play writes input to a new screen in chunks of the given size; 0 is one
// write.
func play(t testing.TB, engine string, cols, rows, chunk int, input []byte) *Screen {
	t.Helper()
	s, err := NewScreen(Options{Cols: cols, Rows: rows, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, s, chunk, input)
	return s
}

// feed writes input to a screen in chunks of the given size; 0 is one write.
func feed(t testing.TB, s *Screen, chunk int, input []byte) {
	t.Helper()
	if chunk == 0 {
		chunk = max(1, len(input))
	}
	for len(input) > 0 {
		n := min(chunk, len(input))
		if _, err := s.Write(input[:n]); err != nil {
			t.Fatal(err)
		}
		input = input[n:]
	}
	if times, fault := s.Fault(); times != 0 {
		t.Fatal("the emulator failed and started over:", fault)
	}
}

// replay plays a recording, with the resizes on the way.
func replay(t testing.TB, engine string, of *goldenScreen, chunk int, input []byte) *Screen {
	t.Helper()
	s := play(t, engine, of.StartCols, of.StartRows, 0, nil)
	at := 0
	for _, r := range of.Resizes {
		feed(t, s, chunk, input[at:r[0]])
		s.Resize(r[1], r[2])
		at = r[0]
	}
	feed(t, s, chunk, input[at:])
	return s
}

func streamNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/streams/*.raw")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(paths[i]), ".raw")
	}
	return paths
}

func readStream(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/streams/" + name + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Every recording of a real program ends on the screen that xterm.js ends on,
// whatever the store and however it is cut.
func TestStreams(t *testing.T) {
	for _, name := range streamNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := readStream(t, name)
			var want goldenScreen
			readGzip(t, "testdata/streams/"+name+".xterm.json.gz", &want)
			for engine, chunks := range map[string][]int{"native": {0, 1, 7, 4096}, "vt10x": {0, 7}} {
				for _, chunk := range chunks {
					s := replay(t, engine, &want, chunk, raw)
					checkGolden(t, s, &want, fmt.Sprintf("%s in chunks of %d", engine, chunk))
					s.Close()
				}
			}
		})
	}
}

func checkGolden(t *testing.T, s *Screen, want *goldenScreen, how string) {
	t.Helper()
	var f Frame
	s.Snapshot(&f, 0)
	text, look, total, first := compareScreen(&f, want)
	if float64(text) < 0.999*float64(total) || float64(look) < 0.995*float64(total) {
		t.Errorf("%s: %d of %d cells have the right text, %d the right look; %s", how, text, total, look, first)
	}
	if f.Title != want.Title {
		t.Errorf("%s: title %q, want %q", how, f.Title, want.Title)
	}
	if f.AltScreen != want.AltScreen {
		t.Errorf("%s: alternate screen %v, want %v", how, f.AltScreen, want.AltScreen)
	}
	x := min(want.Cursor.X, want.Cols-1)
	if f.Cursor.X != x || f.Cursor.Y != want.Cursor.Y || f.Cursor.Visible != want.Cursor.Visible {
		t.Errorf("%s: cursor %+v, want %+v", how, f.Cursor, want.Cursor)
	}
	if f.Scrollback != want.ScrollbackLines {
		t.Errorf("%s: %d lines of scrollback, want %d", how, f.Scrollback, want.ScrollbackLines)
	}
	from := max(0, f.Scrollback-len(want.Scrollback))
	for i, line := range s.Text(from, f.Scrollback) {
		if w := strings.TrimRight(want.Scrollback[i], " "); i < len(want.Scrollback) && line != w {
			t.Errorf("%s: scrollback line %d is %q, want %q", how, i, line, w)
			break
		}
	}
}

// byTheManual are handmade sequences whose results follow DEC's manuals, because the
// terminals that gave the other results do not support them.
var byTheManual = map[string]bool{"DECFRA/DECERA": true, "DECCARA $r not DECSTBM": true}

// Sequences made by hand end on the screen that most terminals show.
func TestHandmadeSequences(t *testing.T) {
	var tests []goldenScreen
	readGzip(t, "testdata/handmade.json.gz", &tests)
	wrong := 0
	for i := range tests {
		want := &tests[i]
		if byTheManual[want.Title] {
			continue
		}
		input, err := base64.StdEncoding.DecodeString(want.B64)
		if err != nil {
			t.Fatal(want.Title, err)
		}
		for _, engine := range []string{"native", "vt10x"} {
			s := play(t, engine, want.Cols, want.Rows, 0, input)
			var f Frame
			s.Snapshot(&f, 0)
			text, look, total, first := compareScreen(&f, want)
			x := min(want.Cursor.X, want.Cols-1)
			if text != total || look != total || f.Cursor.X != x || f.Cursor.Y != want.Cursor.Y || f.AltScreen != want.AltScreen {
				t.Logf("%s, %s: %s; cursor %+v, want %+v", want.Title, engine, first, f.Cursor, want.Cursor)
				wrong++
			}
		}
	}
	if limit := 2 * len(tests) * 2 / 100; wrong > limit {
		t.Errorf("%d of %d differ, at most %d may", wrong, 2*len(tests), limit)
	}
}
