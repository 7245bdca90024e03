package jsonrpc

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestNextTellsWhatIsLeftBehindTheLastLine(t *testing.T) {
	r := NewReader(strings.NewReader("one\r\n\n\r\ntwo\nthree"), 10)
	for _, want := range []string{"one", "two"} {
		if line, err := r.Next(nil); err != nil || string(line) != want {
			t.Fatalf("%q %v, want %q", line, err, want)
		}
	}
	if line, err := r.Next(nil); !errors.Is(err, io.ErrUnexpectedEOF) || string(line) != "three" {
		t.Errorf("%q %v", line, err)
	}
	if line, err := r.Next(nil); !errors.Is(err, io.EOF) || line != nil {
		t.Errorf("%q %v", line, err)
	}
}
