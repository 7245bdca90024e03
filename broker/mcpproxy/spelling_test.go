package mcpproxy

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestSecretsInOtherSpellings: JSON has many ways to write a text, and a result
// many places to put the parts of it in.
func TestSecretsInOtherSpellings(t *testing.T) {
	a := newHarness(t, nil).agent()
	m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/spelled"}`)
	if want := "[REDACTED] in /workspace/spelled \U0001F600 \uFFFD \n\"\\"; m.text() != want {
		t.Errorf("answer %s, want %q", m.Result, want)
	}
	m = a.call("2", "filesystem__read_text_file", `{"path":"/workspace/parts"}`)
	if want := `{"content":[{"text":"a [REDACTED]","type":"text"},{"type":"image","data":"","mimeType":"image/png"},{"text":"","type":"text"},` +
		`{"annotations":{"priority":1},"text":" b","type":"text"},{"text":"c","type":"text"}]}`; string(m.Result) != want {
		t.Errorf("answer %s, want %s", m.Result, want)
	}
	m = a.call("3", "filesystem__read_text_file", `{"path":"/workspace/halves"}`)
	if want := `{"content":[{"text":"a [REDACTED]","type":"text"},{"text":" b","type":"text"}]}`; string(m.Result) != want {
		t.Errorf("answer %s, want %s", m.Result, want)
	}
}

// FuzzPlainSpelling: what the strings of a document say stays the same.
func FuzzPlainSpelling(f *testing.F) {
	for _, s := range []string{`"\u0061\/b"`, `{"a\u0000":"\ud83d\ude00\ud800"}`, `["\\u0061","\\\u0061","\""]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var before, after any
		if json.Unmarshal(doc, &before) != nil {
			return
		}
		if err := json.Unmarshal(plainSpelling(doc), &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s became %s: %v", doc, plainSpelling(doc), err)
		}
	})
}
