package packages

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/gomod"
)

// A file of heads that has grown is shortened when it is opened: ages and the largest head stay.
func TestHeadsAreShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	h, err := openHeads(path, "", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const n = maxHeadLines + 1
	for i := range int64(n) {
		head := gomod.Head{Size: 10 * (i + 1), Time: begin.Add(time.Duration(i) * time.Minute), Signed: fmt.Appendf(nil, "head %d", i)}
		if err := h.Hold("sums.example", head, h.Latest("sums.example")); err != nil {
			t.Fatal(err)
		}
	}
	old, _ := h.Since("sums.example", 500)
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	for _, aside := range []bool{true, false} {
		if h, err = openHeads(path, "", nil, aside); err != nil {
			t.Fatal(err)
		}
		if since, ok := h.Since("sums.example", 500); !ok || !since.Equal(old) || string(h.Latest("sums.example")) != fmt.Sprintf("head %d", n-1) {
			t.Errorf("aside %v: since %v, latest %s", aside, since, h.Latest("sums.example"))
		}
		if err := h.close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if lines := strings.Count(string(text), "{\"database"); err != nil || (lines == n) != aside || lines == 0 {
			t.Errorf("aside %v: %d lines, %v", aside, lines, err)
		}
	}
}

// A head that could be written only in part, to a full disk or before a kill, spoils no other.
func TestHeadsAfterPartOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range int64(3) {
		h, err := openHeads(path, "", nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Hold("sums.example", gomod.Head{Size: 10 * (i + 1), Time: begin.AddDate(0, 0, int(i))}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := h.file.WriteString("\n" + `{"database":"su`); err != nil {
			t.Fatal(err)
		}
		if err := h.close(); err != nil {
			t.Fatal(err)
		}
	}
	h, err := openHeads(path, "", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if since, ok := h.Since("sums.example", int64(10*i+5)); !ok || !since.Equal(begin.AddDate(0, 0, i)) {
			t.Errorf("record %d: %v %v", 10*i+5, since, ok)
		}
	}
}

// The go command's heads are taken over also when an earlier start was killed before it could, or
// when somebody looked at a package first; who looks beside another process writes nothing.
func TestHeadsOfTheGoCommandAfterAKill(t *testing.T) {
	vkey, cache := moduleCacheWithHead(t)
	path := filepath.Join(t.TempDir(), "heads")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, aside := range []bool{true, false, true} {
		h, err := openHeads(path, cache, []string{vkey}, aside)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := h.Since("sums.example", 5); !ok {
			t.Errorf("aside %v: the go command's head is not known", aside)
		}
		before, _ := os.ReadFile(path)
		if err := h.Hold("sums.example", gomod.Head{Size: 20, Time: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.ReadFile(path); aside && string(before) != string(after) {
			t.Errorf("aside, it wrote %q", after)
		}
		if err := h.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// moduleCacheWithHead returns the key of a checksum database, and a module cache with a look-up
// in it when its tree had ten records.
func moduleCacheWithHead(t *testing.T) (vkey, cache string) {
	t.Helper()
	skey, vkey, err := note.GenerateKey(rand.Reader, "sums.example")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	head, err := note.Sign(&note.Note{Text: string(tlog.FormatTree(tlog.Tree{N: 10}))}, signer)
	if err != nil {
		t.Fatal(err)
	}
	record, err := tlog.FormatRecord(5, []byte("code.example/m v1.0.0 h1:x\n"))
	if err != nil {
		t.Fatal(err)
	}
	cache = t.TempDir()
	dir := filepath.Join(cache, "cache", "download", "sumdb", "sums.example", "lookup")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "code.example@v1.0.0"), append(record, head...), 0o600); err != nil {
		t.Fatal(err)
	}
	return vkey, cache
}
