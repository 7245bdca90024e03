package term

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The JSON of a screen says everything about its cells.
func TestDumpJSON(t *testing.T) {
	s := play(t, "native", 4, 1, 0, []byte("\x1b[1;9;31;48;2;1;2;3m漢\x1b[m\x1b]8;;http://a/\"\x07\x1b[4:3;58;5;9mu\x1b[5 q"))
	defer s.Close()
	var out bytes.Buffer
	if err := s.DumpJSON(&out, []byte("\x1b[0n")); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"cols":4,"rows":1,"cursor":{"x":3,"y":0,"visible":true,"shape":"blinking-bar"},
		"title":"","altScreen":false,"modes":[7,25],"scrollback":0,"replies":"\u001b[0n","lines":[[
		{"c":"漢","w":2,"fg":1,"bg":"#010203","a":["bold","strike"]},{"c":"","w":0},
		{"c":"u","w":1,"fg":null,"bg":null,"a":["underline"],"us":"curly","uc":9,"link":"http://a/\""},
		{"c":" ","w":1,"fg":null,"bg":null}]]}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Playing the ANSI form of a screen gives the same cells again.
func TestDumpANSIRoundTrip(t *testing.T) {
	for _, name := range []string{"claude_ghostty", "mc", "unicode_cat", "vttest_colors", "nvim_edit"} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "native", 120, 40, 0, readStream(t, name))
			var out bytes.Buffer
			if err := s.DumpANSI(&out); err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSuffix(strings.ReplaceAll(out.String(), "\n", "\r\n"), "\r\n")
			again := play(t, "native", 120, 40, 0, []byte(text))
			var f, g Frame
			s.Snapshot(&f, 0)
			again.Snapshot(&g, 0)
			for y := range f.Lines {
				if diff := cmp.Diff(trimBlank(f.Lines[y].Cells), trimBlank(g.Lines[y].Cells), cmp.Comparer(sameCell)); diff != "" {
					t.Fatalf("%s, line %d: %s", name, y, diff)
				}
			}
		})
	}
}

// sameCell treats a blank and a space as equal.
func sameCell(a, b Cell) bool {
	if a.Rune == 0 && a.Width == 1 {
		a.Rune = ' '
	}
	if b.Rune == 0 && b.Width == 1 {
		b.Rune = ' '
	}
	return a == b
}

// The picture is well-formed whatever a program wrote.
func TestDumpSVGIsXML(t *testing.T) {
	inputs := [][]byte{readStream(t, "claude_session"), readStream(t, "mc"), []byte("\x1b]2;<&\uffff>\a<b>&\"\uffff\ufffe\x1b[7;4;9;53;1;3;2mx y\x1b[8mz\x1b[6 q")}
	for _, input := range inputs {
		t.Run(string(input), func(t *testing.T) {
			s := play(t, "native", 120, 40, 0, input)
			var out bytes.Buffer
			if err := s.DumpSVG(&out); err != nil {
				t.Fatal(err)
			}
			decoder := xml.NewDecoder(&out)
			for {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// failingWriter fails on every write.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestDumpsReportFailure(t *testing.T) {
	s := play(t, "native", 4, 1, 0, nil)
	defer s.Close()
	for name, err := range map[string]error{
		"json": s.DumpJSON(failingWriter{}, nil), "text": s.DumpText(failingWriter{}),
		"ansi": s.DumpANSI(failingWriter{}), "svg": s.DumpSVG(failingWriter{}),
	} {
		t.Run(name, func(t *testing.T) {
			if err == nil || !strings.Contains(err.Error(), "disk full") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
