package jsonx

import (
	"encoding/json"
	"testing"
)

// What ASCII writes is plain, and means what it was made of.
func FuzzASCII(f *testing.F) {
	for _, s := range []string{"", "plain", "a\u007f\u009b\u202e\u200b\U000e0041", "\U0001f600é", "\xff\x80", "\x1b[2J"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		out := ASCII(raw)
		for _, b := range out {
			if b < ' ' || b > '~' {
				t.Fatalf("%q", out)
			}
		}
		var before, after map[string]string
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatal(err)
		}
		for name, value := range before {
			if after[name] != value {
				t.Fatalf("%q became %q", value, after[name])
			}
		}
	})
}
