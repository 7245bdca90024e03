package fakeengine_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// shared is what a test binds: a directory with a socket at which somebody listens, and
// one with a file.
type shared struct{ sockets, files string }

func share(t *testing.T) shared {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := shared{filepath.Join(dir, "sockets"), filepath.Join(dir, "files")}
	for _, d := range []string{s.sockets, s.files} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.files, "file"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(s.sockets, "s.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return s
}

func (s shared) mounts() []docker.Mount {
	return []docker.Mount{{Source: s.sockets, Target: "/mnt/sockets"}, {Source: s.files, Target: "/mnt/files"}}
}

// What a container sees of a socket and of files that are bound into it.
func TestBinds(t *testing.T) {
	const (
		connect = `perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new("/mnt/sockets/s.sock") ? "connected" : "$!"'`
		content = `cat /mnt/files/file 2>&1 | tail -c 26`
		write   = `echo new >/mnt/files/new; stat -c %a /mnt/files`
	)
	s := share(t)
	c, e := through(t, fakeengine.Faults{})
	for _, tt := range []struct {
		name                   string
		faults                 fakeengine.Faults
		socket, content        string
		inodeStays, writesSeen bool
	}{
		{"no fault", fakeengine.Faults{}, "connected", "content", true, true},
		{"dead sockets", fakeengine.Faults{DeadSockets: true}, "Connection refused", "content", true, true},
		{"empty", fakeengine.Faults{EmptyBinds: true}, "No such file or directory", "No such file or directory", false, false},
		{"other inodes", fakeengine.Faults{OtherInodes: true}, "Connection refused", "content", false, false},
		{"unshared, but not these", fakeengine.Faults{EmptyBinds: true, OtherInodes: true, Unshared: func(string) bool { return false }}, "connected", "content", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written := filepath.Join(s.files, "new")
			_ = os.Remove(written)
			e.Set(tt.faults)
			order := spec(t)
			order.Mounts = s.mounts()
			ct := start(t, c, order)
			if got := inside(t, c, ct.ID(), connect); got != tt.socket {
				t.Errorf("the socket: %q, want %q", got, tt.socket)
			}
			if got := inside(t, c, ct.ID(), content); got != tt.content {
				t.Errorf("the file: %q, want %q", got, tt.content)
			}
			if got := inside(t, c, ct.ID(), write); got != "777" {
				t.Errorf("the directory's mode is %s", got)
			}
			if _, err := os.Stat(written); (err == nil) != tt.writesSeen {
				t.Errorf("what was written there: %v", err)
			}
			same := inside(t, c, ct.ID(), "stat -c %i /mnt/files") == outside(t, s.files)
			if same != tt.inodeStays {
				t.Errorf("the inode is the same: %v", same)
			}
		})
	}
}

// outside returns the number of an inode, as stat prints it.
func outside(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 10)
}

// Docker Desktop refuses sockets, in either form of a bind.
func TestRefusedSockets(t *testing.T) {
	s := share(t)
	c, e := through(t, fakeengine.Faults{RefuseSockets: true})
	order := spec(t)
	for name, source := range map[string]string{"directory": s.sockets, "socket": filepath.Join(s.sockets, "s.sock")} {
		t.Run(name, func(t *testing.T) {
			order := order
			order.Mounts = []docker.Mount{{Source: source, Target: "/mnt/it"}}
			if ct, err := c.Start(deadline(t), order); err == nil {
				_ = ct.Remove(deadline(t))
				t.Error("it was bound")
			} else if !strings.Contains(err.Error(), "/socket_mnt"+source) {
				t.Error(err)
			}
			body, err := json.Marshal(map[string]any{"Image": order.Image, "HostConfig": map[string]any{"Binds": []string{source + ":/mnt/it:ro"}}})
			if err != nil {
				t.Fatal(err)
			}
			status, answer := ask(t, e.Address(), http.MethodPost, "/v1.41/containers/create", string(body))
			if status != http.StatusBadRequest || !strings.Contains(answer, "operation not supported") {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
	order.Mounts = s.mounts()[1:]
	ct := start(t, c, order)
	if got := inside(t, c, ct.ID(), "cat /mnt/files/file"); got != "content" {
		t.Errorf("a directory without sockets holds %q", got)
	}
}

// Limits are forgotten one by one.
func TestStrippedLimits(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	type limits struct {
		Memory, MemorySwap, NanoCpus int64
		PidsLimit                    *int64
	}
	look := func(t *testing.T) limits {
		t.Helper()
		ct := start(t, c, spec(t))
		_, body := ask(t, e.Address(), http.MethodGet, "/containers/"+ct.ID()+"/json", "")
		var found struct{ HostConfig limits }
		if err := json.Unmarshal([]byte(body), &found); err != nil {
			t.Fatal(err)
		}
		return found.HostConfig
	}
	none := func(n *int64) bool { return n == nil || *n <= 0 }
	for _, tt := range []struct {
		name               string
		memory, pids, cpus bool
		strip              []string
	}{
		{"nothing", true, true, true, nil},
		{"memory", false, true, true, []string{fakeengine.Memory}},
		{"processes", true, false, true, []string{fakeengine.Processes}},
		{"processors", true, true, false, []string{fakeengine.Processors}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.Set(fakeengine.Faults{Strip: tt.strip})
			if l := look(t); (l.Memory > 0) != tt.memory || none(l.PidsLimit) == tt.pids || (l.NanoCpus > 0) != tt.cpus {
				t.Errorf("limits are %+v", l)
			}
		})
	}
}
