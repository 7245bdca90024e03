package outer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// editorScript is an editor: it prints the path and the contents of its file, stops itself
// as a person's Ctrl-Z would, and ends after the next line of input.
const editorScript = `echo "FILE $1 $(cat "$1") $(stty -a | tr ' ;' '\n\n' | grep -x -e -icanon -e icanon)"
touch "$1.swp"
kill -STOP 0
echo GO; read -r line; echo "READ $line"; exit ${line#exit }`

// edit is the helper that lends its terminal.
func edit(ctx context.Context, t *Terminal) {
	events := listen(ctx, func(err error) { panic(err) }, t)
	sizes := t.Resizes(ctx)
	<-sizes
	err := t.Edit(ctx, []string{"sh", "-c", editorScript, "sh"}, "scrollback.txt", []byte("some text"))
	_, _ = t.Write(fmt.Appendf(nil, "EDITED %v.", err))
	if err == nil {
		_, _ = t.Write(fmt.Appendf(nil, "SIZE %v.", <-sizes))
	}
	for batch := range events {
		for _, ev := range batch {
			_, _ = t.Write([]byte("EVENT " + ev.String() + "."))
			if ev.Key.String() == "q" {
				return
			}
		}
	}
}

var filePath = regexp.MustCompile(`FILE (\S+) (.*)\r\n`)

// startEdit runs the helper in a session of its own and waits for its editor.
func startEdit(t *testing.T) (l *line, cmd *exec.Cmd, dir string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	l = newLine(t)
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=edit", "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = l.slave, l.slave, l.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "GO\r\n")
	found := filePath.FindStringSubmatch(l.text())
	if found == nil || found[2] != "some text icanon" {
		t.Fatalf("the editor said %q", l.text())
	}
	return l, cmd, filepath.Dir(found[1])
}

func (l *line) send(t *testing.T, keys string) {
	t.Helper()
	if _, err := l.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func gone(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); !os.IsNotExist(err) {
		t.Errorf("left of the text: %v %v", entries, err)
	}
}

// The editor gets the terminal as the program found it. Afterwards the program has it as
// before, and the file is removed.
func TestEdit(t *testing.T) {
	for _, tt := range []struct{ typed, says string }{
		{"exit 0\n", "EDITED <nil>."},
		{"exit 3\n", "EDITED sh ended with exit code 3."},
		{"\x03", "EDITED sh was ended by interrupt."}, // not the program, though it shares the terminal
	} {
		t.Run(tt.typed, func(t *testing.T) {
			l, cmd, dir := startEdit(t)
			before, during, _ := strings.Cut(l.text(), "FILE")
			if modes := left(before); len(modes) > 0 {
				t.Errorf("the editor begins with the modes %v", modes)
			}
			if strings.Contains(during, "\x1b[") {
				t.Errorf("something was painted over the editor: %q", during)
			}
			if err := pty.Setsize(l.master, &pty.Winsize{Cols: 90, Rows: 20}); err != nil {
				t.Fatal(err)
			}
			l.send(t, tt.typed)
			l.wait(t, tt.says)
			if strings.Contains(tt.says, "nil") {
				l.wait(t, "SIZE {90 20}.") // which only the foreground job was told
			}
			gone(t, dir)
			_, after, _ := strings.Cut(l.text(), "GO\r\n")
			for _, mode := range []string{"\x1b[?1049h", "\x1b[?7l", "\x1b[?2004h", "\x1b[?1003h", "\x1b[>7u"} {
				if !strings.Contains(after, mode) {
					t.Errorf("the mode %q is not set again: %q", mode, after)
				}
			}
			l.send(t, "aq")
			l.wait(t, "EVENT a.EVENT q.")
			l.waitTimes(t, "\x1b[23;0t", 2) // given to the editor, given back
			if err := cmd.Wait(); err != nil {
				t.Errorf("the program ended with %v", err)
			}
			if modes := left(l.text()); len(modes) > 0 {
				t.Errorf("modes are left as %v", modes)
			}
		})
	}
}

// A program that ends also ends its editor. After one that is killed, the watchdog
// restores the terminal and removes the file.
func TestEditWhileEnding(t *testing.T) {
	for _, s := range []syscall.Signal{unix.SIGTERM, unix.SIGKILL} {
		l, cmd, dir := startEdit(t)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if s == unix.SIGTERM && err != nil {
			t.Errorf("%v: it ended with %v", s, err)
		}
		if s == unix.SIGKILL {
			l.wait(t, "its terminal has been restored")
		}
		gone(t, dir)
		l.waitTimes(t, "\x1b[23;0t", 2)
		if modes := left(l.text()); len(modes) > 0 {
			t.Errorf("%v: modes are left as %v", s, modes)
		}
	}
}
