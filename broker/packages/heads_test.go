package packages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		if lines := strings.Count(string(text), "\n"); err != nil || (lines == n) != aside || lines == 0 {
			t.Errorf("aside %v: %d lines, %v", aside, lines, err)
		}
	}
}
