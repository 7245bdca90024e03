package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a connection.
func pair(t testing.TB) (client, daemon *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "end")
		c, err := net.FileConn(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = c.(*net.UnixConn)
		t.Cleanup(func() { _ = c.Close() })
	}
	return ends[0], ends[1]
}

// openFiles counts the descriptors of this process.
func openFiles(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/dev/fd") // Linux and macOS have it
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// What is sent arrives, files with their frame, and then the end.
func TestFrames(t *testing.T) {
	a, b := pair(t)
	client, daemon := NewConn(a), NewConn(b)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_ = client.Send(KindHello, Hello{Protocol: 1, Version: "v", Name: "n"})
		_ = client.Send(KindView, View{Terminal: map[string]string{"TERM": strings.Repeat("x", 64<<10)}}, r, w)
		_ = w.Close()
		_ = client.Send(KindResized, nil)
		_ = client.Close()
	}()
	var h Hello
	f, err := daemon.Receive()
	if err != nil || f.Into(&h) != nil || h != (Hello{Protocol: 1, Version: "v", Name: "n"}) || len(f.Files) != 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	var v View
	f, err = daemon.Receive()
	if err != nil || f.Into(&v) != nil || len(v.Terminal["TERM"]) != 64<<10 || len(f.Files) != 2 {
		t.Fatalf("%d files, %v", len(f.Files), err)
	}
	for _, file := range f.Files {
		if flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("a program that is started has the file: %v", err)
		}
	}
	if _, err := f.Files[1].WriteString("through"); err != nil {
		t.Error(err)
	}
	_ = f.Files[0].Close()
	_ = f.Files[1].Close()
	if text, err := io.ReadAll(r); string(text) != "through" {
		t.Errorf("%q, %v", text, err)
	}
	if f, err = daemon.Receive(); f.Kind != KindResized || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err = daemon.Receive(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A frame that no client sends is refused, and none of its files stays open.
func TestFramesThatAreRefused(t *testing.T) {
	frame := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	pair(t) // with the first socket, the runtime opens two descriptors of its own
	open := openFiles(t)
	for name, sent := range map[string]struct {
		data  []byte
		files int
		want  string
	}{
		"nothing":           {nil, 0, "EOF"},
		"cut length":        {[]byte{0, 0}, 0, "EOF"},
		"cut":               {frame(`{"kind":"hello"}`)[:9], 0, "EOF"},
		"no JSON":           {frame("x"), 0, "read a frame"},
		"no kind":           {frame("{}"), 0, "no kind"},
		"more than a value": {frame(`{"kind":"a"} {}`), 0, "more text follows"},
		"unknown":           {frame(`{"kind":"a","more":1}`), 0, "unknown field"},
		"too large":         {frame(strings.Repeat(" ", maxHello+1)), 0, "more than the limit"},
		"four files":        {frame(`{"kind":"view"}`), 4, "more than 3 files"},
		"files, no JSON":    {frame("x"), 2, "read a frame"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var fds []int
			for range sent.files {
				fds = append(fds, int(w.Fd()))
			}
			if len(sent.data) > 0 {
				if _, _, err := a.WriteMsgUnix(sent.data, unix.UnixRights(fds...), nil); err != nil {
					t.Fatal(err)
				}
			}
			_ = a.Close()
			if f, err := NewConn(b).Receive(); err == nil || !strings.Contains(err.Error(), sent.want) || !reflect.DeepEqual(f, Frame{}) {
				t.Errorf("%+v, %v", f, err)
			}
			_ = w.Close()
			if n, err := io.Copy(io.Discard, r); n != 0 || err != nil { // it would wait if a copy of w were open
				t.Error(n, err)
			}
			_ = r.Close()
		})
	}
	if now := openFiles(t); now > open {
		t.Errorf("%d descriptors are open, before %d", now, open)
	}
}

// The kernel says who is at the other end.
func TestPeer(t *testing.T) {
	a, b := pair(t)
	if err := CheckPeer(a); err != nil {
		t.Error(err)
	}
	if p, err := peerOf(a); err != nil || p.checkUser(p.user+1) == nil {
		t.Errorf("another user is let in: %+v, %v", p, err)
	}
	if pid, err := PeerProcess(b); err != nil || pid != os.Getpid() {
		t.Errorf("%d, %v", pid, err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x10{\"kind\":\"hello\"}"))
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return // more than the socket takes at once
		}
		a, b := pair(t)
		_, _ = a.Write(data)
		_ = a.Close()
		got, err := NewConn(b).Receive()
		if (err == nil) != (got.Kind != "") || len(got.Files) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
		_ = b.Close()
	})
}
