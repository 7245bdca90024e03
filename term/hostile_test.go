package term

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// repeat writes a generated stream piece by piece, so that the test's own
// input takes no memory.
func repeat(s *Screen, n int, piece func(i int) string) {
	var b []byte
	for i := range n {
		b = append(b, piece(i)...)
		if len(b) > 32<<10 {
			_, _ = s.Write(b)
			b = b[:0]
		}
	}
	_, _ = s.Write(b)
}

func always(s string) func(int) string { return func(int) string { return s } }

// attacks are streams that make terminals slow, use much memory or crash.
var attacks = map[string]func(*Screen){
	"a million digits":     func(s *Screen) { _, _ = s.Write([]byte("\x1b[")); repeat(s, 1_000_000, always("7")) },
	"a million parameters": func(s *Screen) { _, _ = s.Write([]byte("\x1b[")); repeat(s, 1_000_000, always(";1")) },
	"an endless command": func(s *Screen) {
		_, _ = s.Write([]byte("\x1b]0;"))
		repeat(s, 100<<10, always(strings.Repeat("x", 1024)))
	},
	"an endless device string": func(s *Screen) {
		_, _ = s.Write([]byte("\x1bP+q"))
		repeat(s, 100<<10, always(strings.Repeat("x", 1024)))
	},
	"a billion repeats": func(s *Screen) { repeat(s, 100, always("日\x1b[1000000000bx\x1b[1000000000b")) },
	"huge counts": func(s *Screen) {
		repeat(s, 1000, always("\x1b[2147483647S\x1b[2147483647L\x1b[2147483647@\x1b[2147483647I\x1b[2147483647X"))
	},
	"marks without end": func(s *Screen) { _, _ = s.Write([]byte("a")); repeat(s, 1_000_000, always("\u0301")) },
	"distinct clusters": func(s *Screen) {
		repeat(s, 300_000, func(i int) string { return string(rune(0x4e00+i%20000)) + string(rune(0x300+i/20000)) })
	},
	"distinct links": func(s *Screen) {
		repeat(s, 200_000, func(i int) string { return fmt.Sprintf("\x1b]8;;http://example.com/%d\x07x", i) })
	},
	"long links": func(s *Screen) {
		repeat(s, 20_000, func(i int) string { return fmt.Sprintf("\x1b]8;;%d%s\x07x", i, strings.Repeat("x", 2000)) })
	},
	"questions without end": func(s *Screen) { repeat(s, 1_000_000, always("\x1b[6n")) },
	"titles without end": func(s *Screen) {
		repeat(s, 100_000, func(i int) string { return fmt.Sprintf("\x1b]0;%d\x07\x1b[22t", i) })
	},
	"colors without end": func(s *Screen) {
		repeat(s, 100_000, func(i int) string {
			return fmt.Sprintf("\x1b]4;%d;TekHVC:%d/50/200\x07\x1b]104\x07", i%256, i%360)
		})
	},
	"bells without end":       func(s *Screen) { repeat(s, 1_000_000, always("\a")) },
	"kitty flags without end": func(s *Screen) { repeat(s, 500_000, always("\x1b[>31u")) },
	"newlines without end":    func(s *Screen) { repeat(s, 1_000_000, always("\n")) },
	"clipboards without end":  func(s *Screen) { repeat(s, 2000, always("\x1b]52;c;"+strings.Repeat("QUJD", 4096)+"\x07")) },
	"a line without end": func(s *Screen) {
		repeat(s, 2_000_000, always("x"))
		for cols := 50; cols < 250; cols += 50 {
			s.Resize(cols, 60)
		}
		s.Resize(200, 60)
	},
	"sizes back and forth": func(s *Screen) {
		repeat(s, 3000, always(strings.Repeat("line ", 30)+"\r\n"))
		for range 3 {
			s.Resize(1, 1)
			s.Resize(1000, 1000)
			s.Resize(-5, 0)
			s.Resize(200, 60)
		}
	},
}

// No stream takes much memory or time, and none makes the screen fail. The
// bound on memory is twice what 10,000 full lines of scrollback may take.
func TestHostileStreams(t *testing.T) {
	const maxGrowth = 40 << 20
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			s, err := NewScreen(Options{Cols: 200, Rows: 60})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			before, start := heap(), cpuTime()
			attack(s)
			took, growth := cpuTime()-start, heap()-before
			checkFaultless(t, s)
			checkWhole(t, s)
			if n := len(s.TakeReplies()); n > maxReplies+64 {
				t.Errorf("%d bytes of answers are waiting", n)
			}
			t.Logf("%v, %d kB", took, growth>>10)
			if growth > maxGrowth {
				t.Errorf("the heap grew by %d bytes", growth)
			}
			if took > 30*time.Second { // generous, for the race detector
				t.Errorf("took %v", took)
			}
			runtime.KeepAlive(s)
		})
	}
}

// cpuTime is how long processors have worked for this process, whatever else the
// machine does.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap is the size of everything that is reachable.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Two million distinct colors fit 20 MB, scrollback included.
func TestDistinctColorsMemory(t *testing.T) {
	s, err := NewScreen(Options{Cols: 200, Rows: 60})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := heap()
	repeat(s, 2_000_000, func(i int) string {
		return fmt.Sprintf("\x1b[38;2;%d;%d;%dmx", i>>16, i>>8&255, i&255)
	})
	checkFaultless(t, s)
	if growth := heap() - before; growth > 20<<20 {
		t.Errorf("the heap grew by %d bytes", growth)
	}
	if n := s.emulator.styles.used(); n > 2*minStyles {
		t.Errorf("%d styles are kept", n)
	}
	runtime.KeepAlive(s)
}

// Eight tabs with full scrollback fit the memory that one terminal usually
// takes, and a closed one leaves nothing.
func TestScrollbackMemory(t *testing.T) {
	before := heap()
	line := []byte(strings.Repeat("a fairly full line of text ", 7) + "\r\n")
	screens := make([]*Screen, 8)
	for i := range screens {
		s, err := NewScreen(Options{Cols: 200, Rows: 60})
		if err != nil {
			t.Fatal(err)
		}
		screens[i] = s
		repeat(s, 10_100, always(string(line)))
	}
	growth := heap() - before
	t.Logf("%d kB for eight", growth>>10)
	if growth > 30<<20 {
		t.Errorf("eight screens take %d bytes", growth)
	}
	for _, s := range screens {
		s.Close()
	}
	if left := heap() - before; left > 1<<20 {
		t.Errorf("%d bytes are left after closing", left)
	}
	runtime.KeepAlive(screens)
}

// A long string ends with what follows it, and leaves no memory behind.
func TestUnfinishedStringEnds(t *testing.T) {
	s, err := NewScreen(Options{Cols: 20, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write([]byte("\x1b]0;"))
	_, _ = s.Write(bytes.Repeat([]byte("x"), 2*maxString))
	_, _ = s.Write([]byte("\x1b[2;1Hback"))
	if got := s.Text(0, 3); got[1] != "back" || got[0] != "" {
		t.Errorf("the screen shows %q", got)
	}
	if s.Title() != "" {
		t.Error("a title beyond all bounds was taken")
	}
	if c := cap(s.emulator.payload); c > 64<<10 {
		t.Errorf("%d bytes are kept for strings", c)
	}
}

// Cells outside the screen cannot be reached, and nothing that a program
// writes survives as a control character.
func TestNoControlsInCells(t *testing.T) {
	s, err := NewScreen(Options{Cols: 20, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for b := range 256 {
		_, _ = s.Write([]byte{'a', byte(b), 'b'})
		_, _ = s.Write([]byte(string(rune(b))))
	}
	var f Frame
	s.Snapshot(&f, 0)
	for _, l := range f.Lines {
		for _, c := range l.Cells {
			if c.Rune != 0 && (c.Rune < 0x20 || c.Rune >= 0x7f && c.Rune < 0xa0) {
				t.Errorf("a cell holds %U", c.Rune)
			}
		}
	}
}

// Sequences whose few bytes change millions of cells do not keep the screen locked for
// long: each lock covers little work, and none of the input is lost.
func TestBulkWorkIsCutUp(t *testing.T) {
	const times = 100
	for name, sequence := range map[string]string{
		"REP of a letter":  "a\x1b[9999999b",
		"REP of a cluster": "e\u0301\x1b[9999999b",
		"ED":               "\n\x1b[41m\x1b[2J",
		"selective ED":     "\n\x1b[?2J",
		"SU":               "\x1b[9999999S",
		"alternate screen": "\n\x1b[?1049h\x1b[?1049l",
		"DECIC":            "\n\x1b[1'}",
		"DECALN":           "\n\x1b#8",
		"DECFRA":           "\n\x1b[42$x",
		"DECERA":           "\n\x1b[$z",
		"DECCRA":           "\n\x1b[;;;;;2$v",
		"DECCARA":          "\n\x1b[;;;;1$r",
		"DECRQCRA":         "\n\x1b[*y",
		"SU in margins":    "\n\x1b[?69h\x1b[2s\x1b[S",
		"RIS":              "\n\x1bc",
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "native", 200, 60, 0, nil)
			turns := 0
			for rest := []byte(strings.Repeat(sequence, times)); len(rest) > 0; turns++ {
				rest, _, _ = s.writePiece(rest, true)
			}
			if least := times * 200 * 60 / maxWork / 2; turns < least {
				t.Errorf("%s: %d screens were changed in %d turns, want %d at least", name, times, turns, least)
			}
			whole, cut := play(t, "native", 200, 60, 0, []byte(strings.Repeat(sequence, times))), s
			if diff := stateOf(whole).differs(stateOf(cut)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			checkFaultless(t, whole)
			whole.Close()
			cut.Close()
		})
	}
}
