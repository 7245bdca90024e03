package term

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
)

// scrolledText returns the text of scrollback and screen with wrapped rows joined, one
// string for each line, and a hash of the cells of these lines.
func scrolledText(s *Screen) (lines []string, hash uint64) {
	h := fnv.New64a()
	var b strings.Builder
	cols, _ := s.Size()
	for i := range s.LineCount() {
		cells, wrapped := s.Line(i)
		fmt.Fprint(h, cells)
		writeText(&b, cells)
		if wrapped {
			next, _ := s.Line(i + 1)
			if len(next) == 0 || next[0].Width != 2 {
				b.WriteString(strings.Repeat(" ", cols-len(cells)))
			}
			continue
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		b.Reset()
		h.Write([]byte{'\n'})
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, h.Sum64()
}

// A screen that was narrow for a while, and one whose size never changed, keep the same
// lines, also at the bounds of lines and of bytes.
func TestNarrowScreenKeepsLines(t *testing.T) {
	full := strings.Repeat("a fairly full line of text ", 7)
	colored := strings.Repeat("\x1b[38;2;1;2;3;48;2;4;5;6ma\x1b[38;2;7;8;9mb", 95) + "\x1b[m"
	for name, text := range map[string]string{"lines": full, "bytes": colored} {
		for _, engine := range []string{"native", "vt10x"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				const bound = 500
				var screens [2]*Screen
				for i := range screens {
					s, err := NewScreen(Options{Cols: 200, Rows: 50, Scrollback: bound, Engine: engine})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					write := func(from, n int) {
						repeat(s, n, func(i int) string { return fmt.Sprintf("%d ", from+i) + text + "\r\n" })
					}
					write(0, 2*bound)
					for range 3 {
						if i == 1 {
							s.Resize(40, 20)
						}
						write(2*bound, bound/5)
						if i == 1 {
							s.Resize(200, 50)
						}
						write(3*bound, bound/10)
					}
					checkFaultless(t, s)
					screens[i] = s
				}
				want, wantHash := scrolledText(screens[0])
				got, gotHash := scrolledText(screens[1])
				if name == "lines" && len(want) != bound+49 {
					t.Errorf("%d lines are kept", len(want))
				}
				if name == "bytes" { // these bounds may cut a little earlier or later
					n := min(len(got), len(want))
					if len(want)-n > 2 || len(got)-n > 2 || !slices.Equal(got[len(got)-n:], want[len(want)-n:]) {
						t.Errorf("%d lines, want %d", len(got), len(want))
					}
				} else if len(got) != len(want) || gotHash != wantHash {
					t.Errorf("%d lines from %.10q, want %d from %.10q", len(got), got[0], len(want), want[0])
				}
			})
		}
	}
}

// A line without end fills the scrollback with its rows, and the memory is bounded.
func TestEndlessLineIsBounded(t *testing.T) {
	s, err := NewScreen(Options{Cols: 10, Rows: 3, Scrollback: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	repeat(s, 1_000_000, always("x"))
	s.Resize(1, 3)
	repeat(s, 1_000_000, always("y"))
	h := s.emulator.history
	if h.count <= 7 || h.size() > 2*h.maxBytes()+blockSize {
		t.Errorf("%d rows in %d bytes", h.count, h.size())
	}
	_, _ = s.Write([]byte(strings.Repeat("\r\nz", 20)))
	if h = s.emulator.history; h.starts > 7+h.surplus.lines || h.starts < 7 {
		t.Errorf("%d lines", h.starts)
	}
	s.Resize(10, 3)
	checkFaultless(t, s)
}
