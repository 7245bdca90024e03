package leak

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const (
	apiKey = "sk-ant-api03-Zq8Rw1_Lk3JvXn5TbYd7HgPc0FsMaE2uKoIrN9tVhGy4SjBx6CfWmDzQeUlAi-pOXz72AA"
	jwt    = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2F1dGguZXhhbXBsZSIsImV4cCI6NDEwMjQ0NDgwMH0.nT3wq0Zc_Yk5Rj8VbLs1XhPg7DfMa2UeKoI"
)

func forms(secrets ...string) []Form {
	var all []Form
	for _, s := range secrets {
		all = append(all, Forms(s)...)
	}
	return all
}

// mask replaces what is found in a stream of pieces with a star.
func mask(f *Finder, pieces ...[]byte) string {
	s := NewScanner(f)
	var out, held []byte
	for i, p := range pieces {
		before := bytes.Clone(s.Before())
		data := append(append(before, held...), p...)
		from := len(before)
		found, judged := s.Scan(data, i == len(pieces)-1)
		for _, r := range found {
			out = append(append(out, data[from:r.From]...), '*')
			from = r.To
		}
		out, held = append(out, data[from:judged]...), data[judged:]
	}
	return string(out)
}

func TestWhatIsAPart(t *testing.T) {
	signature := strings.LastIndexByte(jwt, '.') + 1
	for name, test := range map[string]struct{ secret, text, want string }{
		"whole":                         {apiKey, "a " + apiKey + " b", "a * b"},
		"without its end":               {apiKey, "a " + apiKey[:len(apiKey)-4] + "... b", "a *... b"},
		"without its beginning":         {apiKey, "a ..." + apiKey[13:] + " b", "a ...* b"},
		"24 from the middle":            {apiKey, "a " + apiKey[30:54] + " b", "a * b"},
		"23 are too few":                {apiKey, "a " + apiKey[30:53] + " b", "a " + apiKey[30:53] + " b"},
		"its public beginning":          {apiKey, "a sk-ant-api03-ironcurtain-x b", "a sk-ant-api03-ironcurtain-x b"},
		"both ends":                     {apiKey, apiKey[:24] + "..." + apiKey[len(apiKey)-24:], "*...*"},
		"twice in a row":                {apiKey, apiKey + apiKey, "**"},
		"half of 40":                    {apiKey[:40], "a" + apiKey[11:31] + "b", "a*b"},
		"less than half of 40":          {apiKey[:40], "a" + apiKey[11:30] + "b", "a" + apiKey[11:30] + "b"},
		"16 of 20":                      {apiKey[:20], "!" + apiKey[:16] + "!", "!*!"},
		"15 of 20":                      {apiKey[:20], "!" + apiKey[:15] + "!", "!" + apiKey[:15] + "!"},
		"a short one":                   {"hunter2-x", "hunter2- hunter2-x", "hunter2- *"},
		"a token's public part":         {jwt, jwt[:signature] + "forged", jwt[:signature] + "forged"},
		"a token cut in its signature":  {jwt, "t " + jwt[:signature+24] + "… ", "t *… "},
		"a signature":                   {jwt, "t " + jwt[signature:] + " ", "t * "},
		"the beginning of a path":       {"/home/someone/projects/keys/service-account.json", "/home/someone/projects/keys/other", "/home/someone/projects/keys/other"},
		"a path":                        {"/home/someone/projects/keys/service-account.json", "in /home/someone/projects/keys/service-account.json", "in *"},
		"a sentence":                    {"correct horse battery staple", "a correct horse battery", "a correct horse battery"},
		"base64 of a part":              {apiKey, base64.StdEncoding.EncodeToString([]byte("Key: " + apiKey[:40])), "S2V5OiB*"},
		"hex of a part":                 {apiKey, hex.EncodeToString([]byte(apiKey[20:60])), "*"},
		"backwards":                     {apiKey, reverse(apiKey[:40]), "*"},
		"in lower case":                 {apiKey, strings.ToLower(apiKey[:40]), "*"},
		"escaped, without its end":      {apiKey, strings.ReplaceAll(apiKey[:60], "-", `\u002d`) + `\u0021`, `*\u0021`},
		"one escape in a part":          {apiKey, apiKey[10:28] + "%" + hex.EncodeToString([]byte(apiKey[28:29])) + apiKey[29:34] + "%20", "*%20"},
		"base64 with escaped slashes":   {"k" + strings.Repeat("\xff\xfe?", 12), strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte("k"+strings.Repeat("\xff\xfe?", 9))), "/", `\/`), "*w=="},
		"escaped twice":                 {apiKey, strings.ReplaceAll(apiKey[:60], "-", `\\u002d`), "*"},
		"escaped four times":            {apiKey, "x" + strings.ReplaceAll(apiKey[:60], "-", strings.Repeat(`\`, 8)+"u002d"), "x*"},
		"backslashes before an escape":  {apiKey, `a\\\n\\\\b` + apiKey[:40] + `\\"`, `a\\\n\\\\b*\\"`},
		"an escape that ends too early": {apiKey, apiKey[:20] + `\u00`, apiKey[:20] + `\u00`},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFinder(Forms(test.secret))
			for i := range len(test.text) + 1 {
				if got := mask(f, []byte(test.text[:i]), []byte(test.text[i:])); !same(got, test.want) || i == 0 && got != test.want {
					t.Fatalf("cut at %d: %q instead of %q", i, got, test.want)
				}
			}
		})
	}
}

// same reports whether a stream was masked like want, except for up to three bytes that
// were judged before the rest came.
func same(got, want string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, `(?:.{0,3}\*)+`)
	return got == want || regexp.MustCompile("(?s)^"+pattern+"$").MatchString(got)
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// A complete event is judged at once, whatever it contains.
func TestALineIsNeverOpen(t *testing.T) {
	s := NewScanner(NewFinder(forms(apiKey, jwt)))
	for n := range len(apiKey) {
		line := []byte(apiKey[:n] + "\n\n")
		if _, judged := s.Scan(line, false); judged != len(line) {
			t.Fatalf("%q is judged up to %d", line, judged)
		}
	}
}

// The bytes that a scanner leaves unjudged are bounded, and at that bound no secret
// passes.
func TestOpenIsBounded(t *testing.T) {
	var secret strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&secret, "%x.", i*i*7919)
	}
	f := NewFinder(Forms(secret.String()))
	var text strings.Builder
	for _, c := range []byte(hex.EncodeToString([]byte(secret.String()))) {
		fmt.Fprintf(&text, `\u%04x`, c)
	}
	s := NewScanner(f)
	var data []byte
	masked := false
	for rest := []byte(text.String()); len(rest) > 0; {
		n := min(len(rest), 32<<10)
		data = append(data, rest[:n]...)
		rest = rest[n:]
		from := len(s.Before())
		found, judged := s.Scan(data, len(rest) == 0)
		for _, r := range found {
			if masked = true; r.From-from > 6*2*mostPart {
				t.Errorf("%d bytes of the secret got by", r.From-from)
			}
			from = r.To
		}
		if judged-from > 6*2*mostPart || len(data)-judged > MaxOpen {
			t.Errorf("%d bytes got by, %d are open", judged-from, len(data)-judged)
		}
		data = append(bytes.Clone(s.Before()), data[judged:]...)
	}
	if !masked {
		t.Error("nothing was found")
	}
}

// plainParts is a slow and simple implementation of the rule: it finds where the secret
// and the text have enough characters in a row in common.
func plainParts(secret, text string, least int) []bool {
	in := make([]bool, len(text))
	for i := range text {
		for j := range secret {
			n := 0
			for i+n < len(text) && j+n < len(secret) && text[i+n] == secret[j+n] {
				n++
			}
			if n >= least {
				for k := range n {
					in[i+k] = true
				}
			}
		}
	}
	return in
}

// The findings do not depend on how the text is split, and the rest contains no part.
func TestCutsDoNotMatter(t *testing.T) {
	few := rapid.StringMatching(`[ab%\\&]{8,60}`)
	key := rapid.StringMatching(`[A-Za-z0-9_-]{8,60}`)
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.OneOf(key, key, few).Draw(t, "secret")
		piece := rapid.Custom(func(t *rapid.T) string {
			i := rapid.IntRange(0, len(secret)).Draw(t, "from")
			part := secret[i:rapid.IntRange(i, len(secret)).Draw(t, "to")]
			switch rapid.IntRange(0, 7).Draw(t, "as") {
			case 0:
				return hex.EncodeToString([]byte(part))
			case 1:
				return base64.StdEncoding.EncodeToString([]byte(part))
			case 2:
				return strings.ReplaceAll(fmt.Sprintf("% x", part), " ", "%")
			case 3:
				return escapedIn(part, rapid.IntRange(0, len(part)).Draw(t, "escape"), rapid.SampledFrom([]string{`\u%04x`, `\\u%04x`, `\\\\x%02x`, `%%%02X`, `&#%d;`, `\x%02x`}).Draw(t, "format"))
			case 4:
				return rapid.StringMatching(`[-a-z%\\&#u0-9;\n]{0,8}`).Draw(t, "other")
			default:
				return part
			}
		})
		text := []byte(strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), ""))
		f := NewFinder(Forms(secret))
		whole := mask(f, text)
		var pieces [][]byte
		for rest := text; ; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "cut")
			pieces = append(pieces, rest[:n])
			if rest = rest[n:]; len(rest) == 0 {
				break
			}
			if len(pieces) == 8 {
				pieces = append(pieces, rest)
				break
			}
		}
		got := mask(f, pieces...)
		if !same(got, whole) {
			t.Fatalf("%q in pieces %q: %q, in one %q", text, pieces, got, whole)
		}
		if slices.Contains(plainParts(secret, got, Plain(secret).least), true) {
			t.Fatalf("%q became %q, which holds a part", text, got)
		}
		if len(NewFinder(Forms(secret)).Runs(text, nil)) == 0 && slices.Contains(plainParts(secret, string(text), Plain(secret).least), true) {
			t.Fatalf("a part in %q was not found", text)
		}
	})
}

func escapedIn(s string, i int, format string) string {
	if i == len(s) {
		return s
	}
	return s[:i] + fmt.Sprintf(format, s[i]) + s[i+1:]
}

// A text that has nothing in common with the secret does not change.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("a"+apiKey+"b"), uint16(5), uint16(20))
	f.Add([]byte("a"+apiKey[:len(apiKey)-5]+"b"), uint16(30), uint16(20))
	f.Add([]byte(hex.EncodeToString([]byte(apiKey[10:50]))), uint16(1), uint16(2))
	f.Add([]byte(jwt[:120]+`\u00`+jwt[110:]), uint16(7), uint16(8))
	f.Add([]byte(`\n%&#`+escapedIn(apiKey, 20, `\u%04x`)+`\u00`), uint16(20), uint16(8))
	finder := NewFinder(append(forms(apiKey, jwt), Whole("0f3b2c1a-1111-2222-3333-444455556666")))
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16) {
		i := int(a) % (len(data) + 1)
		j := i + int(b)%(len(data)-i+1)
		whole := mask(finder, data)
		got := mask(finder, data[:i], data[i:j], data[j:])
		if !utf8.Valid(data) { // a regular expression takes each bad byte for the same
			got = whole
		}
		if !same(got, whole) {
			t.Fatalf("in pieces %q, in one %q", got, whole)
		}
		for at := 0; at+mostPart <= len(apiKey); at++ {
			if strings.Contains(got, apiKey[at:at+mostPart]) {
				t.Fatalf("a part passed: %q", got)
			}
		}
	})
}
