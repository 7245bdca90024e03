package docker

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// open starts a program in a container and returns the connection to it, closed at the end.
func open(t testing.TB, c *Client, id string, argv ...string) net.Conn {
	t.Helper()
	conn, err := c.Stream(deadline(t, patience), id, argv, "1000:1000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func closeWrite(t testing.TB, conn net.Conn) {
	t.Helper()
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

// Bytes pass unchanged in both directions, at the same time, over each kind of connection.
func TestStreamBothWays(t *testing.T) {
	for name, way := range map[string]func() *Client{
		"unix": func() *Client { return connect(t) },
		"tcp":  func() *Client { c, _ := relayed(t, false); return c },
		"tls":  func() *Client { c, _ := relayed(t, true); return c },
	} {
		t.Run(name, func(t *testing.T) {
			c := way()
			h := detached(t, c, nil, "sleep", "1000")
			conn := open(t, c, h.ID(), "sh", "-c", "echo aside >&2; cat; echo the end")
			want := strings.Repeat("all bytes are passed on: \x00\xff\x1d\r\n", 100_000)
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(conn, want)
				sent <- errors.Join(err, conn.(interface{ CloseWrite() error }).CloseWrite())
			}()
			got, err := io.ReadAll(conn)
			if err := errors.Join(err, <-sent); err != nil || string(got) != want+"the end\n" {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// The program is confined as the container's own is.
func TestStreamIsConfined(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	conn := open(t, c, h.ID(), "sh", "-c", "id -u; id -g; id -G; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | cut -f2 | sort -u; tty")
	got, err := io.ReadAll(conn)
	if want := "1000\n1000\n1000\n0000000000000000\n1\n2\nnot a tty\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// A read that reached its deadline loses nothing.
func TestStreamDeadline(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	conn := open(t, c, h.ID(), "cat")
	if err := conn.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "again"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "again" {
		t.Errorf("%q, %v", got, err)
	}
}

// When the connection breaks, a read that waits fails, and the program reads the end of its input.
func TestStreamIsCut(t *testing.T) {
	c, r := relayed(t, false)
	h := detached(t, c, nil, "sleep", "1000")
	conn := open(t, c, h.ID(), "sh", "-c", "echo begun; cat; echo ended > /tmp/ended")
	if _, err := io.ReadFull(conn, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	r.cut()
	if err := <-read; err == nil {
		t.Error("a read went on")
	}
	eventually(t, patience, "the program's end", func() bool {
		return inside(t, c, h.ID(), "cat /tmp/ended 2> /dev/null || true") == "ended"
	})
}

// The end of the container ends its programs.
func TestStreamOfARemovedContainer(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	conn := open(t, c, h.ID(), "sh", "-c", "echo begun; exec cat")
	if _, err := io.ReadFull(conn, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	if err := h.Remove(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); len(got) > 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestStreamIsRefused(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	ended := detached(t, c, nil, "true")
	if _, err := ended.Wait(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, id, user string
		want           error
	}{
		{"no such container", "nonesuch", "1000:1000", ErrNoContainer},
		{"an ended container", ended.ID(), "1000:1000", ErrNotRunning},
		{"a user by name", h.ID(), "codespace", ErrSpec},
		{"root", h.ID(), "0:0", ErrSpec},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Stream(deadline(t, patience), tt.id, []string{"true"}, tt.user)
			if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// What the program says before its end, or the engine in its place, is the error of the
// first read.
func TestStreamWithoutAWord(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	for _, tt := range []struct {
		name, want string
		argv       []string
	}{
		{"no such program", "no such file", []string{"/nonesuch"}},
		{"no program", "permission denied", []string{"/etc"}},
		{"complains and ends", "the keeper is gone", []string{"sh", "-c", "echo the keeper is gone >&2; exit 1"}},
		{"ends", "without any output", []string{"true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := open(t, c, h.ID(), tt.argv...)
			got, err := io.ReadAll(conn)
			if len(got) > 0 || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// A program may say what looks like a message of the engine's.
func TestStreamBeginsWithALineOfText(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	for _, after := range []string{"", "; cat"} {
		t.Run("then"+after, func(t *testing.T) {
			conn := open(t, c, h.ID(), "sh", "-c", `printf 'OCI runtime exec failed\r\n'`+after)
			closeWrite(t, conn)
			if got, err := io.ReadAll(conn); err != nil || string(got) != "OCI runtime exec failed\r\n" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// An agent that is at its limit of processes leaves none for the program, most of the time.
func TestStreamAtTheProcessLimit(t *testing.T) {
	c := connect(t)
	h := detached(t, c, func(s *Spec) { s.Pids = 8 }, "perl", "-e",
		"while (defined(my $p = fork)) { sleep 1000 unless $p } sleep 1000")
	eventually(t, patience, "the limit", func() bool {
		conn := open(t, c, h.ID(), "cat")
		defer conn.Close()
		if _, err := io.WriteString(conn, "x"); err != nil {
			return false
		}
		_, err := conn.Read(make([]byte, 1))
		if err != nil && (errors.Is(err, ErrNotRunning) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "\n")) {
			t.Fatal(err)
		}
		return err != nil
	})
}

func TestStreamIsClosed(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	conn := open(t, c, h.ID(), "cat")
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read: %v", err)
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write: %v", err)
	}
}
