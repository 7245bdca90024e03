package stored

import (
	"os"
	"testing"
)

func TestTheSizeOfATerminalIsKept(t *testing.T) {
	l := Layout{Dir: t.TempDir()}
	if cols, rows := ReadSize(l); cols != 0 || rows != 0 {
		t.Errorf("without a file: %dx%d", cols, rows)
	}
	for _, want := range [][2]int{{200, 48}, {1, 1}, {65535, 65535}} {
		if err := WriteSize(l, want[0], want[1]); err != nil {
			t.Fatal(err)
		}
		if cols, rows := ReadSize(l); cols != want[0] || rows != want[1] {
			t.Errorf("%v became %dx%d", want, cols, rows)
		}
	}
	for _, text := range []string{"", "80x24", "0x24\n", "80x0\n", "-1x24\n", "800000x24\n", "80x24\n\n", "80 x24\n"} {
		if err := os.WriteFile(l.Size(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if cols, rows := ReadSize(l); cols != 0 || rows != 0 {
			t.Errorf("%q: %dx%d", text, cols, rows)
		}
	}
}
