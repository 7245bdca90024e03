package jsonx

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScan holds what looks at eight bytes at a time against what looks at one.
func FuzzScan(f *testing.F) {
	const letters = "\"\"\"\\\\{}[]:,a1u0 -.e\x1f\x7fn\xc3"
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		doc := make([]byte, random.IntN(40))
		for i := range doc {
			doc[i] = letters[random.IntN(len(letters))]
		}
		f.Add(doc)
		f.Add(append(append([]byte{'"'}, doc...), '"'))
	}
	for _, s := range []string{
		`{"a":[1,-0.5e+3,"x\u00e9\ud83d",null,true,{}],"a":""}`, `"` + strings.Repeat("abcdefg\n", 9) + `"`, `"\\"`, `"\\\""`, `"\u12g4"`, `[1,]`, `{"a"}`, "\"\x1f\"", `01`, `-`, `[`,
		`"` + strings.Repeat("a", 31) + "\x7f\u2028é\"", ` "a" `, `{"a":1}x`, strings.Repeat("[", 20), `"aaaaaaaaaaaaaaaa\`, "\"\x80\x1f\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := Valid(data), json.Valid(data); got != want {
			t.Fatalf("%q is valid: %v, not %v", data, got, want)
		}
		if got, want := HasControl(data), bytes.ContainsFunc(data, func(r rune) bool { return r < 0x20 }); got != want {
			t.Fatalf("%q has a control character: %v", data, got)
		}
		s := string(data)
		plain := plainUntil(s, 0)
		for i := range plain {
			if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
				t.Fatalf("%q is not plain until %d", s, plain)
			}
		}
		if len(data) > 0 && data[0] == '"' {
			want := -1
			for i := 1; i < len(data) && want < 0; i++ {
				switch data[i] {
				case '\\':
					i++
				case '"':
					want = i
				}
			}
			if got := StringEnd(data, 0); got != want {
				t.Fatalf("%q ends at %d, not %d", data, got, want)
			}
			sameText(t, data)
		}
	})
}

// sameText holds a string that a cursor passes over against the standard library's.
func sameText(t *testing.T, data []byte) {
	t.Helper()
	c := NewCursor(data)
	span, fault := c.Text()
	passed := c.Since(0)
	if (fault == Sound) != json.Valid(passed) {
		t.Fatalf("%q is passed over with fault %d", passed, fault)
	}
	if fault != Sound || !utf8.Valid(passed) {
		return
	}
	var want string
	if err := json.Unmarshal(passed, &want); err != nil {
		t.Fatal(err)
	}
	if got := c.Decode(span); got != want {
		t.Fatalf("%q says %q, not %q", passed, got, want)
	}
}

func BenchmarkLongText(b *testing.B) {
	doc := []byte(`{"text":"` + strings.Repeat("a line of a text like any other\\n", 700) + `"}`)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Split(doc); err != nil || !Valid(doc) {
			b.Fatal(err)
		}
		v, err := Parse(doc, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		_ = v.Encode()
	}
}
