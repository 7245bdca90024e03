package codemode

import "testing"

// BenchmarkStart is a program that does nothing: process, lock, engine and end.
func BenchmarkStart(b *testing.B) {
	r := NewRunner(isolatePath, "", Limits{})
	for b.Loop() {
		if out, err := r.Run(b.Context(), Program{Code: `return 1`, Tools: testTools, Do: (&stub{}).do}); err != nil || !out.OK {
			b.Fatal(err, out.Error)
		}
	}
}

// BenchmarkCalls is one call of a program among 500 in turn.
func BenchmarkCalls(b *testing.B) {
	r := NewRunner(isolatePath, "", Limits{})
	for left := b.N; left > 0; left -= 500 {
		s := &stub{}
		if out, err := r.Run(b.Context(), Program{Code: `for (let n = 0; n < 500; n++) await test.add({ n })`, Tools: testTools, Do: s.do}); err != nil || !out.OK {
			b.Fatal(err, out.Error)
		}
	}
}
