package treesync

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// putFile puts content into the container. The error must contain wrong; "" means none.
func (p *pair) putFile(path string, content []byte, size int64, wrong string) {
	p.t.Helper()
	err := p.client.PutFile(p.t.(*testing.T).Context(), "workspace", path, 0o444, bytes.NewReader(content), size, sha256.Sum256(content))
	if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
		p.t.Fatalf("put %s: %v, want %q", path, err, wrong)
	}
}

// Single files are put, larger than a Tree copies, and listed without being read.
func TestSingleFiles(t *testing.T) {
	p := start(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	p.putFile("pack/a/big", big, int64(len(big)), "")
	p.putFile("pack/empty", nil, 0, "")
	p.putFile("top", []byte("x"), 1, "")
	must(t, os.Symlink("top", filepath.Join(p.container, "link")))
	must(t, os.WriteFile(filepath.Join(p.container, "unreadable"), []byte("secret"), 0))
	want := map[string]int64{"pack/a/big": int64(len(big)), "pack/empty": 0, "top": 1, "unreadable": 6}
	got, err := p.client.List(t.Context(), "workspace")
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("listed %v, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(p.container, "pack/a/big")); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("written as %v, %v", info.Mode(), err)
	}
	for range 2 { // a file of another size, then one that is equal
		p.putFile("pack/a/big", big[1:], int64(len(big)-1), "")
	}
	p.putFile("link", []byte("no link any more"), 16, "")
	for path, content := range map[string]string{"pack/a/big": string(big[1:]), "link": "no link any more", "top": "x"} {
		if is, err := os.ReadFile(filepath.Join(p.container, path)); err != nil || string(is) != content {
			t.Errorf("%s has %d bytes, %v", path, len(is), err)
		}
	}
}

// A file that cannot be written is an error and leaves nothing behind. The connection stays
// usable unless the content could not be read.
func TestSingleFileRefused(t *testing.T) {
	p := start(t)
	p.putFile("dir/x", []byte("x"), 1, "")
	for path, wrong := range map[string]string{
		"dir": "something else", "dir/x/y": "something else", "../x": "not a path", "": "not a path", "/x": "not a path",
	} {
		t.Run(path, func(*testing.T) { p.putFile(path, []byte("y"), 1, wrong) })
	}
	must(t, os.Symlink(t.TempDir(), filepath.Join(p.container, "away")))
	p.putFile("away/x", []byte("y"), 1, "something else")
	err := p.client.PutFile(t.Context(), "workspace", "damaged", 0o444, strings.NewReader("other"), 5, sha256.Sum256([]byte("wrong")))
	if err == nil || !strings.Contains(err.Error(), "damaged while") {
		t.Errorf("damaged: %v", err)
	}
	if _, err := p.client.List(t.Context(), "nothing"); err == nil {
		t.Error("a tree that is not served was listed")
	}
	p.putFile("dir/y", []byte("y"), 1, "")
	broken := errors.New("this disk")
	if err := p.client.PutFile(t.Context(), "workspace", "half", 0o444, iotest.ErrReader(broken), 5, [32]byte{}); !errors.Is(err, broken) || fault.Hint(err) == "" {
		t.Errorf("got %v", err)
	}
	<-p.served
	p.served <- nil
	if got := listing(t, p.container); len(got) != 4 || got["dir/y"] == "" {
		t.Errorf("left there: %v", got)
	}
}

// A file that is shorter than announced ends the connection.
func TestSingleFileTooShort(t *testing.T) {
	p := start(t)
	p.putFile("x", []byte("four"), 5, "has 4 bytes, not 5")
	p.putFile("x", []byte("four"), 4, "has 4 bytes, not 5")
}
