package session

import (
	"io"
	"strings"
	"testing"
)

// However a process' output is copied, no more of it is kept than may be.
func TestLimited(t *testing.T) {
	l := &limited{left: 1000}
	for range 3 {
		if n, err := io.Copy(l, io.LimitReader(strings.NewReader(strings.Repeat("x", 1<<20)), 1<<19)); n != 1<<19 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if n := len(l.String()); n != 1000 {
		t.Errorf("%d bytes are kept", n)
	}
}
