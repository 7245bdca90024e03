package audit

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestWhatIsCompactIsOneValue(t *testing.T) {
	for doc, want := range map[string]bool{
		`{}`: true, `[]`: true, `{"a":"b c","d":[1,{"e":"}\"]"}]}`: true, `{"a":"\\"}`: true,
		`{ }`: false, "{\n}": false, `{"a": 1}`: false, `{},"decision":"allow"`: false, `{}}`: false, `{`: false, `}{`: false,
		`"a"`: false, `{"a":"b`: false, "{\"a\":\"\n\"}": false, ``: false, `[]{}`: false, `{"a":"\`: false,
	} {
		t.Run(doc, func(t *testing.T) {
			if got := isCompact([]byte(doc)); got != want {
				t.Errorf("%q: %v, want %v", doc, got, want)
			}
		})
	}
}

func FuzzCompactMeansCompact(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x y"]}`))
	f.Add([]byte(`{"a" :1}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) || !isCompact(doc) {
			return
		}
		var b bytes.Buffer
		if err := json.Compact(&b, doc); err != nil || !bytes.Equal(b.Bytes(), doc) {
			t.Fatalf("%q became %q, %v", doc, b.Bytes(), err)
		}
	})
}
