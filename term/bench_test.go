package term

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hinshun/vt10x"
)

// Streams of about 4 MB to measure with, the same on every run.

func plainScroll() []byte {
	random := rand.New(rand.NewPCG(7, 7))
	words := []string{"policy", "container", "escalate", "socket", "request", "deny", "token", "stream", "window", "proxy", "agent"}
	var out []byte
	for len(out) < 4<<20 {
		for range 4 + random.IntN(12) {
			out = append(append(out, words[random.IntN(len(words))]...), ' ')
		}
		out = append(out, "\r\n"...)
	}
	return out
}

func denseTruecolor() []byte {
	random := rand.New(rand.NewPCG(8, 8))
	var out []byte
	for len(out) < 4<<20 {
		out = append(out, "\x1b[H"...)
		for y := range 60 {
			for range 200 {
				out = fmt.Appendf(out, "\x1b[38;2;%d;%d;%dm\x1b[48;2;%d;%d;%dm▀",
					random.IntN(256), random.IntN(256), random.IntN(256), random.IntN(256), random.IntN(256), y)
			}
			out = append(out, "\x1b[0m\r\n"...)
		}
	}
	return out
}

func unicodeText() []byte {
	random := rand.New(rand.NewPCG(9, 9))
	words := []string{"日本語", "Grüße", "привет", "한국어", "é́", "👩‍💻", "🎉", "plain", "naïve", "Ελληνικά", "工具呼び出し", "│", "──────", "❯", "✻"}
	var out []byte
	for len(out) < 4<<20 {
		for range 4 + random.IntN(12) {
			out = append(append(out, words[random.IntN(len(words))]...), ' ')
		}
		out = append(out, "\r\n"...)
	}
	return out
}

func claudeSession(b *testing.B) []byte {
	b.Helper()
	raw := readStream(b, "claude_session")
	var out []byte
	for len(out) < 4<<20 {
		out = append(out, raw...)
	}
	return out
}

func BenchmarkPlainScroll(b *testing.B) { benchmarkStores(b, 200, 60, plainScroll()) }
func BenchmarkTruecolor(b *testing.B)   { benchmarkStores(b, 200, 60, denseTruecolor()) }
func BenchmarkUnicode(b *testing.B)     { benchmarkStores(b, 200, 60, unicodeText()) }
func BenchmarkClaude(b *testing.B)      { benchmarkStores(b, 120, 40, claudeSession(b)) }

// benchmarkStores writes input, as a terminal would read it, to a screen over
// each store, to hinshun/vt10x alone, which keeps no scrollback, and to
// @xterm/headless:
//
//	XTERM_HEADLESS=…/node_modules go test -run '^$' -bench . ./term
func benchmarkStores(b *testing.B, cols, rows int, input []byte) {
	b.Helper()
	for _, engine := range []string{"native", "vt10x"} {
		b.Run(engine, func(b *testing.B) {
			s, err := NewScreen(Options{Cols: cols, Rows: rows, Engine: engine})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			benchmarkWrites(b, input, func(p []byte) {
				_, _ = s.Write(p)
				s.TakeReplies()
			})
		})
	}
	b.Run("raw-vt10x", func(b *testing.B) {
		terminal := vt10x.New(vt10x.WithSize(cols, rows))
		benchmarkWrites(b, input, func(p []byte) { _, _ = terminal.Write(p) })
	})
	benchmarkXterm(b, cols, rows, input)
}

// benchmarkXterm measures @xterm/headless on the same input, in CPU seconds,
// when XTERM_HEADLESS names a node_modules directory that has it.
func benchmarkXterm(b *testing.B, cols, rows int, input []byte) {
	b.Helper()
	modules := os.Getenv("XTERM_HEADLESS")
	if modules == "" {
		return
	}
	b.Run("xterm-headless", func(b *testing.B) {
		file := filepath.Join(b.TempDir(), "input")
		if err := os.WriteFile(file, input, 0o600); err != nil {
			b.Fatal(err)
		}
		seconds := 0.0
		for b.Loop() {
			out, err := exec.Command("node", "testdata/xterm-bench.cjs", modules, file,
				strconv.Itoa(cols), strconv.Itoa(rows)).Output()
			if err != nil {
				b.Fatal(err)
			}
			if seconds, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(input))/1e6/seconds, "MB/cpu-s")
		b.ReportMetric(0, "ns/op") // it would include the start of node
	})
}

// processCPU is the CPU time that this process has used, in seconds.
func processCPU(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func benchmarkWrites(b *testing.B, input []byte, write func([]byte)) {
	b.Helper()
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	before, rounds := processCPU(b), 0
	for b.Loop() {
		for rest := input; len(rest) > 0; {
			n := min(4096, len(rest))
			write(rest[:n])
			rest = rest[n:]
		}
		rounds++
	}
	b.ReportMetric(float64(len(input)*rounds)/1e6/(processCPU(b)-before), "MB/cpu-s")
}

// BenchmarkResize wraps 10,000 full lines of scrollback to another width.
func BenchmarkResize(b *testing.B) {
	s, err := NewScreen(Options{Cols: 200, Rows: 60})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	repeat(s, 11_000, always(strings.Repeat("a fairly full line of text ", 7)+"\r\n"))
	b.ReportAllocs()
	cols := 0
	for b.Loop() {
		cols = 1 - cols
		s.Resize(180+cols, 60)
	}
}

// BenchmarkSaveLoad saves eight screens with 10,000 full lines of scrollback each, and
// loads them again.
func BenchmarkSaveLoad(b *testing.B) {
	screens := make([]*Screen, 8)
	for i := range screens {
		screens[i] = play(b, "native", 200, 60, 0, nil)
		defer screens[i].Close()
		repeat(screens[i], 10_100, always(strings.Repeat("a fairly full line of text ", 7)+"\r\n"))
	}
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = 0
		for _, s := range screens {
			size += len(saved(b, s))
			reload(b, s).Close()
		}
	}
	b.ReportMetric(float64(size), "saved-B")
}

// BenchmarkSnapshot takes a frame after every change of one row.
func BenchmarkSnapshot(b *testing.B) {
	s, err := NewScreen(Options{Cols: 200, Rows: 60})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write(plainScroll()[:1<<16])
	var f Frame
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Write([]byte("\r*"))
		s.Snapshot(&f, 0)
	}
}
