package term

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"testing"
)

// reload saves a screen and loads it again.
func reload(t testing.TB, s *Screen) *Screen {
	t.Helper()
	saved, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadScreen(saved, nil)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// saved returns what Save returns.
func saved(t testing.TB, s *Screen) []byte {
	t.Helper()
	b, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkCuts plays input to a screen that is never saved. For each cut it also plays the input
// to a screen that is saved at the cut, and to the screen loaded from that. All three show and
// answer the same, and the last two have the same hidden state, too. After every third cut the
// same holds for screens that are resized at the cut.
func checkCuts(t *testing.T, engine string, cols, rows int, input []byte, how string, cuts ...int) {
	t.Helper()
	sizes := [][2]int{{cols, rows}, {cols/2 + 1, rows/2 + 1}, {cols + 3, rows + 3}}
	states := func(s *Screen, sizes [][2]int) (all []*screenState) {
		for _, size := range sizes {
			s.Resize(size[0], size[1])
			all = append(all, stateOf(s))
		}
		checkFaultless(t, s)
		return all
	}
	whole := play(t, engine, cols, rows, 0, nil)
	feed(t, whole, 0, input)
	want := states(whole, sizes)
	whole.Close()
	for n, cut := range cuts {
		tried := sizes
		if n%3 != 0 {
			tried = sizes[:1]
		}
		former := play(t, engine, cols, rows, 0, nil)
		feed(t, former, 0, input[:cut])
		loaded := reload(t, former)
		for name, s := range map[string]*Screen{"saved": former, "loaded": loaded} {
			feed(t, s, 0, input[cut:])
			for i, got := range states(s, tried) {
				if diff := want[i].differs(got); diff != "" {
					t.Fatalf("%s, cut at %d of %d, %v, %s: %s", how, cut, len(input), sizes[i], name, diff)
				}
			}
		}
		if !bytes.Equal(saved(t, former), saved(t, loaded)) {
			t.Fatalf("%s, cut at %d of %d: the state differs", how, cut, len(input))
		}
		former.Close()
		loaded.Close()
	}
}

// A screen that is saved and loaded anywhere in a recording continues as if nothing had happened.
func TestSavedScreensGoOn(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 11))
	for _, name := range streamNames(t) {
		raw := readStream(t, name)
		var want goldenScreen
		readGzip(t, "testdata/streams/"+name+".xterm.json.gz", &want)
		cuts := make([]int, 3)
		for i := range cuts {
			cuts[i] = random.IntN(min(len(raw), 200<<10) + 1)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, cut := range cuts {
				engine := "native"
				if i == 0 {
					engine = "vt10x"
				}
				checkCuts(t, engine, want.StartCols, want.StartRows, raw[:min(len(raw), cut+8<<10)], engine, cut)
			}
		})
	}
}

// The same holds in the middle of every sequence and every character.
func TestSavedInTheMiddle(t *testing.T) {
	for _, seed := range fuzzSeeds {
		cuts := make([]int, len(seed)+1)
		for i := range cuts {
			cuts[i] = i
		}
		checkCuts(t, "native", 20, 6, []byte(seed), fmt.Sprintf("%q", seed), cuts...)
		checkCuts(t, "vt10x", 20, 6, []byte(seed), fmt.Sprintf("vt10x %q", seed), len(seed)/2)
	}
	random := rand.New(rand.NewPCG(12, 12))
	var tests []goldenScreen
	readGzip(t, "testdata/handmade.json.gz", &tests)
	for i := range tests {
		input, err := base64.StdEncoding.DecodeString(tests[i].B64)
		if err != nil {
			t.Fatal(err)
		}
		checkCuts(t, "native", tests[i].Cols, tests[i].Rows, input, tests[i].Title, random.IntN(len(input)+1))
	}
}

// What a program set before the screen was saved decides what it reads afterwards.
func TestSavedStateCounts(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"a title":            {"\x1b]0;one\a\x1b[22t\x1b]0;two\a", "\x1b[23t\x1b[>1t\x1b[21t", "\x1b]l6F6E65\x1b\\"},
		"a string":           {"\x1b]4;1;#102030\a\x1b]4;1", ";?\a", "\x1b]4;1;rgb:1010/2020/3030\a"},
		"a status string":    {"\x1b[1;31m\x1bP$q", "m\x1b\\", "\x1bP1$r0;1;31m\x1b\\"},
		"a charset":          {"\x1b(0\x1b7\x1b(B\x1b[5", ";5H\x1b8lq\x1b[6n", "\x1b[1;3R"},
		"margins":            {"\x1b[?69h\x1b[3;9s\x1b[2;4r\x1b[?6h", "\x1b[99;99H\x1b[6n", "\x1b[3;7R"},
		"tab stops":          {"\x1b[3g\x1b[1;5H\x1bH\r", "\t\x1b[6n", "\x1b[1;5R"},
		"a pending wrap":     {"01234567890123456789", "x\x1b[6n", "\x1b[2;2R"},
		"saved modes":        {"\x1b[?1004h\x1b[?1004s\x1b[?1004l", "\x1b[?1004r\x1b[?1004$p", "\x1b[?1004;1$y"},
		"keyboard flags":     {"\x1b[>5u\x1b[>7u", "\x1b[<u\x1b[?u", "\x1b[?5u"},
		"half a character":   {"\xe6\xbc", "\xa2\x1b[6n", "\x1b[1;3R"},
		"waiting answers":    {"\x1b[5n", "\x1b[5n", "\x1b[0n\x1b[0n"},
		"insert mode":        {"abc\x1b[4h\r", "日\x1b[1;1;1;1;1;3*y", "\x1bP1!~99BA\x1b\\"},
		"protection":         {"\x1b[1\"qab\x1b[0\"qc", "\x1b[?2J\x1b[1;1;1;1;1;3*y", "\x1bP1!~FF1D\x1b\\"},
		"the other screen":   {"main\x1b[?1049halt", "\x1b[?1049l\x1b[6n", "\x1b[1;5R"},
		"a kept screen":      {"\x1b[?47hkept\x1b[?47l", "\x1b[?47h\x1b[1;1;1;1;1;1*y", "\x1bP1!~FF95\x1b\\"},
		"repeat a character": {"ab\x1b[", "3b\x1b[6n", "\x1b[1;6R"},
	} {
		for _, engine := range []string{"native", "vt10x"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				former := play(t, engine, 20, 6, 0, []byte(tt.before))
				s := reload(t, former)
				feed(t, s, 0, []byte(tt.after))
				feed(t, former, 0, []byte(tt.after))
				if got, same := string(s.TakeReplies()), string(former.TakeReplies()); got != same || got != tt.want {
					t.Errorf("answered %q, the former %q, want %q", got, same, tt.want)
				}
			})
		}
	}
}

// A screen whose bytes changed anywhere, or are cut off, is refused.
func TestDamagedScreensAreRefused(t *testing.T) {
	s := play(t, "native", 20, 6, 0, readStream(t, "unicode_cat"))
	good := saved(t, s)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := LoadScreen(bad, nil); err == nil {
			t.Fatalf("byte %d of %d was changed", i, len(good))
		}
		if _, err := LoadScreen(good[:i], nil); err == nil {
			t.Fatalf("%d of %d bytes were loaded", i, len(good))
		}
	}
	s.Close()
	if _, err := s.Save(); err == nil {
		t.Error("a closed screen was saved")
	}
}

// Any bytes are refused as a saved screen, or make a screen that does not fail.
func FuzzLoadScreen(f *testing.F) {
	frame := func(b []byte) []byte { return b[len(savedMark) : len(b)-4] }
	for i, seed := range fuzzSeeds {
		s := play(f, []string{"native", "vt10x"}[i%2], 20, 6, 0, []byte(seed+"\r\n\r\n\r\n\r\n\r\n\r\n"))
		f.Add(frame(saved(f, s)))
		f.Add(frame(saved(f, play(f, "native", 20, 6, 0, []byte(seed[:len(seed)/2])))))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := loadEmulator(body)
		if err != nil || e.cols*e.rows > 10_000 {
			return
		}
		s := newScreen(e, nil)
		defer s.Close()
		checkWhole(t, s)
		again := reload(t, s)
		defer again.Close()
		for _, seed := range fuzzSeeds {
			_, _ = s.Write([]byte(seed))
			_, _ = again.Write([]byte(seed))
		}
		s.Resize(30, 7)
		again.Resize(30, 7)
		checkFaultless(t, s)
		checkWhole(t, s)
		if diff := stateOf(s).differs(stateOf(again)); diff != "" {
			t.Fatal("saved again:", diff)
		}
	})
}
