package text

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscapes(t *testing.T) {
	for in, want := range map[string]struct{ ascii, readable string }{
		`plain "text"`:         {`plain "text"`, `plain "text"`},
		"a\\b":                 {`a\\b`, `a\b`},
		"a\x1b[2J\r\n":         {`a\x1b[2J\r\n`, `a\x1b[2J\r\n`},
		"ä\u202e\u200b\u00a0":  {`\u00e4\u202e\u200b\u00a0`, `ä\u202e\u200b\u00a0`},
		"\xff\U000e0041\u0085": {`\xff\U000e0041\u0085`, `\xff\U000e0041\u0085`},
	} {
		t.Run(in, func(t *testing.T) {
			if got := ASCII(in); got != want.ascii {
				t.Errorf("ASCII: %s, want %s", got, want.ascii)
			}
			if got := Readable(in, 100); got != want.readable {
				t.Errorf("Readable: %s, want %s", got, want.readable)
			}
		})
	}
	if got := Readable(strings.Repeat("x", 50), 9); got != "xxxxxxxxxx… (50 bytes)" {
		t.Error(got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Clip("abc", 3), "abc"},
		{Clip("abc", 2), "ab…"},
		{Clip("aä", 2), "a…"},
		{Clip("ä", 0), "…"},
		{OneLine(" a\n\tb  c ", 9), "a b c"},
		{OneLine("a b c", 3), "a b…"},
		{FirstLine("\n\n a\r\nb", 9), "a"},
		{FirstLine("", 9), ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%q, want %q", c.got, c.want)
			}
		})
	}
}

// What ASCII writes can be read back, so two texts never look the same; and nothing that
// is shown is more than it seems.
func FuzzEscape(f *testing.F) {
	f.Add("a\\x1b\x1b\xc3\u202e\"")
	f.Fuzz(func(t *testing.T, s string) {
		ascii := ASCII(s)
		if i := strings.IndexFunc(ascii, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Fatalf("%q of %q", ascii[i:], s)
		}
		back, err := strconv.Unquote(`"` + strings.ReplaceAll(ascii, `"`, `\"`) + `"`)
		if err != nil || back != s {
			t.Fatalf("%q came back as %q: %v", s, back, err)
		}
		readable := Readable(s, 1<<20)
		if !utf8.ValidString(readable) || strings.ContainsFunc(readable, func(r rune) bool {
			return r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
		}) {
			t.Fatalf("%q of %q", readable, s)
		}
	})
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"Left_Pad": "left-pad", "a.-_b": "a-b", "a---b": "a-b", "": "", "-a": "-a"} {
		if got := Fold(in); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"agnet", "agent", 1}, {"ab", "ba", 1}, {"äö", "öä", 1}, {"copy", "copy", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	words := []string{"close", "clone", "copy", "approve", "approve+", "tab", "a"}
	for _, c := range []struct{ wrote, want string }{
		{"cloes", "; did you mean close?"},
		{"clo", "; did you mean close or clone?"},
		{"CLOSER", "; did you mean close?"},
		{"aprove", "; did you mean approve?"},
		{"approv", "; did you mean approve or approve+?"},
		{"atb", "; did you mean tab?"},
		{"xyzzy", ""},
		{"x", ""},
		{"", ""},
	} {
		if got := DidYouMean(c.wrote, words); got != c.want {
			t.Errorf("%q: %q, want %q", c.wrote, got, c.want)
		}
	}
}

// Small letters in a query find capital ones, too; places are those in the text as it is.
func TestIndex(t *testing.T) {
	for _, one := range []struct {
		text, query string
		want        int
	}{
		{"see README", "read", 4},
		{"see README", "Read", -1},
		{"see README", "READ", 4},
		{"İ README", "README", 3}, // in lower case its first letter is longer
		{"İ README", "read", -1},
	} {
		t.Run(one.text+" "+one.query, func(t *testing.T) {
			if got := Index(one.text, one.query); got != one.want {
				t.Errorf("Index = %d, want %d", got, one.want)
			}
		})
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 12: "12 files", 1234: "1,234 files", -1234567: "-1,234,567 files", 100000: "100,000 files"} {
		if got := Counted(n, "file"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
