package wiring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log that has grown large is put aside once; a small one goes on.
func TestLogIsTurned(t *testing.T) {
	p := Paths{Home: filepath.Join(t.TempDir(), "home")}
	write := func(text string) {
		t.Helper()
		log, closer, err := openLog(p)
		if err != nil {
			t.Fatal(err)
		}
		log.Info(text)
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return -1
		}
		return info.Size()
	}
	write("one")
	first := size(p.LogFile())
	write("two")
	if now := size(p.LogFile()); now <= first || size(p.LogFile()+".1") != -1 {
		t.Errorf("a small log of %d bytes has %d after another line, and %d are put aside", first, now, size(p.LogFile()+".1"))
	}
	for range 2 { // the second takes the place of the first
		if err := os.Truncate(p.LogFile(), largestLog); err != nil {
			t.Fatal(err)
		}
		write("new")
		text, err := os.ReadFile(p.LogFile())
		if lines := strings.Count(string(text), "\n"); err != nil || lines != 1 || size(p.LogFile()+".1") != largestLog {
			t.Errorf("the new log has %d lines, the old one %d bytes: %v", lines, size(p.LogFile()+".1"), err)
		}
	}
}
