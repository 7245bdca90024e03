package autoapprove

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A full log takes no entry, so that nothing is approved that is not recorded.
func TestAFullLogTakesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auto-approve.jsonl")
	l := NewLog(path)
	if err := l.Append(Entry{Quote: "push"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, Quota-100); err != nil { // a hole, which takes no room
		t.Fatal(err)
	}
	if err := l.Append(Entry{Quote: "push"}); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != Quota-100 {
		t.Errorf("the log changed: %v, %v", info, err)
	}
}
