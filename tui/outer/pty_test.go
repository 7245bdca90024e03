package outer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// helperEnv makes the test binary a program that opens its terminal and ends
// in the way the variable names.
const helperEnv = "IRONCURTAIN_OUTER_TEST"

func TestMain(m *testing.M) {
	if how := os.Getenv(helperEnv); how != "" {
		helper(how)
		return
	}
	goleak.VerifyTestMain(m)
}

func helper(how string) {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGHUP)
	defer stop()
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer t.Restore()
	defer t.Guard()
	_ = t.SetMouse(keys.MouseMotion)
	_ = t.SetKeyboard(keys.KittyEventTypes)
	_, _ = t.Write([]byte("\x1b[?2026h\x1b[31m\x1b]8;;https://example.org\x1b\\READY"))
	switch how {
	case "panic":
		panic("something is wrong")
	case "panic elsewhere":
		go func() {
			defer t.Guard()
			panic("something is wrong elsewhere")
		}()
		<-make(chan int)
	case "panic unguarded":
		go func() { panic("nobody guards this") }()
		<-make(chan int)
	case "kill -9":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	case "exit":
	case "edit":
		edit(ctx, t)
	case "stop":
		back := t.Continues(ctx)
		_, _ = t.Write([]byte("LISTENS"))
		for range back {
			_, _ = t.Write([]byte("BACK"))
		}
	default:
		<-ctx.Done()
	}
}

// line is a pty with a collector behind its master side.
type line struct {
	master, slave *os.File

	mu      sync.Mutex
	output  bytes.Buffer
	changed chan struct{}
	done    chan struct{}
}

func newLine(t *testing.T) *line {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	l := &line{master: master, slave: slave, changed: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			l.mu.Lock()
			l.output.Write(buf[:n])
			l.mu.Unlock()
			select {
			case l.changed <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		slave.Close()
		<-l.done // a master without slaves fails to read
		master.Close()
	})
	return l
}

func (l *line) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.output.String()
}

// wait waits until the output holds s.
func (l *line) wait(t *testing.T, s string) { t.Helper(); l.waitTimes(t, s, 1) }

// waitTimes waits until the output holds s so many times.
func (l *line) waitTimes(t *testing.T, s string, times int) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for strings.Count(l.text(), s) < times {
		select {
		case <-l.changed:
		case <-deadline.C:
			t.Fatalf("%q did not come, but %q", s, l.text())
		}
	}
}

var modeChange = regexp.MustCompile(`\x1b\[\?([0-9]+)([hl])`)

// left returns the modes that the output leaves in another state than a new terminal
// has.
func left(output string) (modes []string) {
	state := map[string]string{}
	for _, m := range modeChange.FindAllStringSubmatch(output, -1) {
		state[m[1]] = m[2]
	}
	for mode, s := range state {
		usual := "l"
		if mode == "7" || mode == "25" {
			usual = "h"
		}
		if s != usual {
			modes = append(modes, mode+s)
		}
	}
	return modes
}

// checkRestored checks that output, from Open to the end, leaves nothing set.
func checkRestored(t *testing.T, output string) {
	t.Helper()
	if modes := left(output); len(modes) > 0 {
		t.Errorf("modes are left as %v by %q", modes, output)
	}
	for _, pair := range [][2]string{
		{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[>5u", "\x1b[<u"}, {"\x1b[>4;2m", "\x1b[>4m"}, {"\x1b[22;0t", "\x1b[23;0t"}, {"\x1b[?1049h", "\x1b]8;;\x1b\\\x1b[m\x1b[r\x1b[0 q"},
	} {
		if strings.Count(output, pair[0]) != 1 || strings.Count(output, pair[1]) != 1 {
			t.Errorf("%q and %q are not there once each: %q", pair[0], pair[1], output)
		}
	}
	if pop, screen := strings.Index(output, "\x1b[<u"), strings.Index(output, "\x1b[?1049l"); pop > screen {
		t.Errorf("the keyboard is popped on the wrong screen: %q", output)
	}
}
