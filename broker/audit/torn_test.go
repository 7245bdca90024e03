package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// batch is a log of four records, and what a write of n more adds to it.
func batch(t *testing.T, n int) (path string, before int64, added []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{NoSync: true})
	fill(t, l, 4)
	before = int64(l.w.tip.Size)
	fill(t, l, n)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, before, all[before:]
}

// leave makes the log what a crash left of it: four records, this tail, and a
// head that speaks of them.
func leave(t *testing.T, path string, before int64, tail []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data[:before:before], tail...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(headName(path)); err != nil {
		t.Fatal(err)
	}
}

func TestBlocksOfZerosAtTheEndAreMovedAside(t *testing.T) {
	for name, hole := range map[string]func(tail []byte) []byte{
		"all of it":        func(b []byte) []byte { clear(b); return b },
		"the first block":  func(b []byte) []byte { clear(b[:4096]); return b },
		"a block between":  func(b []byte) []byte { clear(b[4096:8192]); return b },
		"more than a line": func([]byte) []byte { return make([]byte, maxLine+4096) },
	} {
		t.Run(name, func(t *testing.T) {
			path, before, tail := batch(t, 60)
			left := hole(tail)
			leave(t, path, before, left)
			read := 0
			if err := Read(path, func(Line) error { read++; return nil }); err != nil || read < 4 {
				t.Fatalf("%d lines were read before that: %v", read, err)
			}
			l := open(t, path, Options{})
			fill(t, l, 1)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			whole := bytes.Count(left[:bytes.IndexByte(left, 0)], []byte("\n")) // lines before the zeros
			r, err := Verify(path)
			if err != nil || r.Records != uint64(4+whole+3) { // a note of it, one more, the closing one
				t.Fatalf("%+v, %v; %d lines were whole", r, err, whole)
			}
			torn, err := filepath.Glob(path + ".torn-*")
			if err != nil || len(torn) != 1 {
				t.Fatalf("torn parts: %v, %v", torn, err)
			}
			kept, err := os.ReadFile(torn[0])
			if err != nil || !bytes.HasSuffix(left, kept) || bytes.IndexByte(kept, 0) < 0 {
				t.Fatalf("%d bytes were kept of %d, %v", len(kept), len(left), err)
			}
		})
	}
}

// Zeros before records that other writes brought to the disk are no crash's.
func TestZerosInTheMiddleAreRefused(t *testing.T) {
	path, before, tail := batch(t, writeLimit+40)
	clear(tail[4096:8192])
	leave(t, path, before, tail)
	if l, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "is not an audit record") {
		t.Fatal(l, err)
	}
	l := open(t, path, Options{NoSync: true}) // there the system chose what reached the disk
	fill(t, l, 1)
}

// An edited closing line stays a refusal, whatever follows it.
func TestZerosBehindAnEditDoNotHideIt(t *testing.T) {
	path := closedLog(t, 3)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"records":3`), []byte(`"records":2`), 1)
	if err := os.WriteFile(path, append(data, 0, 0, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(headName(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "edited") {
		t.Fatal(err)
	}
}
