package strict

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// TestFoundIDIsThatOfTheMessage: what is found in passing is what decoding finds.
func TestFoundIDIsThatOfTheMessage(t *testing.T) {
	value := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Int32(), func(n int32) any { return n }),
		rapid.Map(rapid.SliceOf(rapid.String()), func(s []string) any { return map[string]any{"id": s, "x": []any{map[string]any{"id": 1}}} }))
	rapid.Check(t, func(t *rapid.T) {
		line, err := json.Marshal(map[string]any{
			"jsonrpc": "2.0", "id": value.Draw(t, "id"), "method": rapid.String().Draw(t, "method"), "params": value.Draw(t, "params"),
		})
		if err != nil {
			t.Fatal(err)
		}
		var f idFinder
		cut := rapid.IntRange(0, len(line)).Draw(t, "cut")
		f.Look(line[:cut])
		f.Look(line[cut:])
		want, _ := Decode(line)
		if got := f.Found(); len(got) <= maxID && string(got) != string(want.ID) {
			t.Fatalf("%s: %s instead of %s", line, got, want.ID)
		}
	})
}
