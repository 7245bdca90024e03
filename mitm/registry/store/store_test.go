package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func keep(t *testing.T, s *Store, text string) string {
	t.Helper()
	i, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(i, text); err != nil {
		t.Fatal(err)
	}
	sum, err := i.Keep()
	if err != nil {
		t.Fatal(err)
	}
	i.Drop()
	return sum
}

func open(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func TestBlobs(t *testing.T) {
	s, dir := open(t)
	sum := keep(t, s, "hello")
	b, err := s.Open(sum)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, b.Size)
	if _, err := b.ReadAt(got, 0); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	_ = b.Close()
	for _, bad := range []string{"", "..", strings.Repeat("0", 64), strings.ToUpper(sum)} {
		if _, err := s.Open(bad); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blobs", sum[:2], sum), []byte("hullo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(sum); !errors.Is(err, ErrCorrupt) {
		t.Errorf("changed bytes: %v", err)
	}
	if _, err := s.Open(sum); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the changed bytes are still there: %v", err)
	}
}

func TestDropLeavesNothing(t *testing.T) {
	s, dir := open(t)
	i, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	i.Drop()
	if left, _ := os.ReadDir(filepath.Join(dir, "incoming")); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

func TestNotes(t *testing.T) {
	s, _ := open(t)
	var got map[string]int
	if s.Read("a/../b", &got) {
		t.Error("a note that was never written")
	}
	if err := s.Note("a/../b", map[string]int{"x": 1}); err != nil {
		t.Fatal(err)
	}
	if !s.Read("a/../b", &got) || got["x"] != 1 {
		t.Errorf("%v", got)
	}
}

func TestShrink(t *testing.T) {
	s, dir := open(t)
	old, fresh := keep(t, s, strings.Repeat("o", 100)), keep(t, s, strings.Repeat("n", 100))
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "blobs", old[:2], old), past, past); err != nil {
		t.Fatal(err)
	}
	unfinished, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	defer unfinished.Drop()
	removed, left, err := s.Shrink(100)
	if err != nil || removed != 100 || left != 100 {
		t.Errorf("removed %d, left %d, %v", removed, left, err)
	}
	if _, err := s.Open(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old one: %v", err)
	}
	b, err := s.Open(fresh)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	if _, err := io.WriteString(unfinished, "x"); err != nil {
		t.Errorf("what is being written: %v", err)
	}
}

// Only a program that has stored something shrinks the store when it ends.
func TestCloseShrinksWhatHasGrown(t *testing.T) {
	s, dir := open(t)
	first := keep(t, s, strings.Repeat("o", 100))
	if err := s.Close(); err != nil || s.Size(first) == 0 {
		t.Errorf("a store without a limit lost the blob, %v", err)
	}
	for name, c := range map[string]struct {
		stores string
		stays  bool
	}{"only reads": {"", true}, "stores": {strings.Repeat("n", 100), false}} {
		t.Run(name, func(t *testing.T) {
			s := &Store{dir: filepath.Join(t.TempDir(), "copy")}
			past := time.Now().Add(-time.Hour)
			if err := errors.Join(os.CopyFS(s.dir, os.DirFS(dir)), os.Chtimes(s.blob(first), past, past)); err != nil {
				t.Fatal(err)
			}
			s.Bound(100)
			if c.stores != "" {
				keep(t, s, c.stores)
			}
			if err := s.Close(); err != nil || (s.Size(first) > 0) != c.stays {
				t.Errorf("the first blob has %d bytes, %v", s.Size(first), err)
			}
		})
	}
}

// A store that is written to for weeks does not outgrow its limit, and keeps what was used last.
func TestBoundedStore(t *testing.T) {
	s, dir := open(t)
	const limit = 1 << 20
	s.Bound(limit)
	first := keep(t, s, "used")
	if err := s.Note("used", first); err != nil {
		t.Fatal(err)
	}
	var last string
	for i := range 200 {
		last = keep(t, s, strings.Repeat(string(rune('a'+i%26)), 32<<10+i))
		b, err := s.Open(first)
		if err != nil {
			t.Fatalf("after %d: %v", i, err)
		}
		_ = b.Close()
		if note := ""; !s.Read("used", &note) || note != first {
			t.Fatalf("after %d: the note about it is gone", i)
		}
		if _, left, err := (&Store{dir: dir}).Shrink(1 << 40); err != nil || left > limit {
			t.Fatalf("after %d: %d bytes, %v", i, left, err)
		}
	}
	if s.Size(last) == 0 {
		t.Error("what was stored last is gone")
	}
}
