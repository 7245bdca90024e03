package bounded

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// However an output is copied, no more of it is kept than may be.
func TestBufferKeepsTheBeginning(t *testing.T) {
	b := &Buffer{Most: 5}
	for _, s := range []string{"abc", "defg", "h"} {
		if n, err := io.Copy(b, struct{ io.Reader }{strings.NewReader(s)}); n != int64(len(s)) || err != nil {
			t.Errorf("%s: %d, %v", s, n, err)
		}
	}
	if b.String() != "abcde" || !b.Over() {
		t.Errorf("it keeps %q, over %v", b, b.Over())
	}
	if b.Reset(); b.String() != "" || b.Over() {
		t.Errorf("emptied, it keeps %q, over %v", b, b.Over())
	}
}

func TestBufferFails(t *testing.T) {
	full := errors.New("full")
	b := &Buffer{Most: 4, Err: full}
	if n, err := b.Write([]byte("abcd")); n != 4 || err != nil || b.Over() {
		t.Errorf("as much as it keeps: %d, %v, over %v", n, err, b.Over())
	}
	if n, err := b.Write([]byte("e")); n != 0 || !errors.Is(err, full) || !b.Over() || string(b.Bytes()) != "abcd" {
		t.Errorf("one byte more: %d, %v, over %v, %q", n, err, b.Over(), b)
	}
}

// A program that never stops printing ends when its buffer is full.
func TestBufferOfAProgram(t *testing.T) {
	full := errors.New("full")
	b := &Buffer{Most: 100, Err: full}
	cmd := exec.CommandContext(t.Context(), "yes")
	cmd.Stdout = b
	if err := cmd.Run(); err == nil || len(b.Bytes()) != 100 {
		t.Errorf("%d bytes are kept, %v", len(b.Bytes()), err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	for _, c := range []struct {
		writes []string
		want   string
	}{
		{[]string{"ab"}, "ab"},
		{[]string{"abcd"}, "abcd"},
		{[]string{"abc", "de"}, "bcde"},
		{[]string{"a", "bcdefgh"}, "efgh"},
	} {
		t.Run(c.want, func(t *testing.T) {
			tail := &Tail{Most: 4}
			for _, w := range c.writes {
				if n, err := tail.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("%s: %d, %v", w, n, err)
				}
			}
			if tail.String() != c.want {
				t.Errorf("%v: it keeps %q", c.writes, tail)
			}
		})
	}
}

func TestReaderEndsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := Reader(ctx, strings.NewReader("abcd"))
	p := make([]byte, 2)
	if n, err := r.Read(p); n != 2 || err != nil {
		t.Errorf("before: %d, %v", n, err)
	}
	cancel(why)
	if n, err := r.Read(p); n != 0 || !errors.Is(err, why) {
		t.Errorf("after: %d, %v", n, err)
	}
}
