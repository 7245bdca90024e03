package outer

import (
	"bufio"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// DropInput discards whole lines and an unfinished one.
func TestDropInput(t *testing.T) {
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	defer near.Close()
	if _, err := far.WriteString("whole\ny"); err != nil {
		t.Fatal(err)
	}
	for waiting := 0; waiting < len("whole\n"); { // until the line has arrived; the begun one never shows
		if waiting, err = unix.IoctlGetInt(int(near.Fd()), unix.TIOCINQ); err != nil {
			t.Fatal(err)
		}
	}
	if err := DropInput(near); err != nil {
		t.Fatal(err)
	}
	if _, err := far.WriteString("es\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(near).ReadString('\n'); err != nil || line != "es\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// stopOutput stops the output of a terminal.
func stopOutput(fd int) error { return unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF) }
