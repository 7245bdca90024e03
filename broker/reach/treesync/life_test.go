package treesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// When the agent writes a file while the host puts it, the agent's version keeps the path and the
// host's is beside it.
func TestAgentWritesMeanwhile(t *testing.T) {
	for name, agent := range map[string]files{
		"changes it":        {"a": "agent"},
		"makes a directory": {"a": "", "a/b": "agent"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			write(t, p.container, files{"a": "1", "z": "1"})
			p.sync()
			write(t, p.host, files{"a": "tool"})
			p.client.conn = &onPut{ReadWriteCloser: p.client.conn, do: func() { write(t, p.container, agent) }}
			p.client.wire = newWire(p.client.conn)
			r := p.sync()
			p.equal()
			if len(r.Conflicts) != 1 || r.Conflicts[0].Beside != "a.from-tool" {
				t.Errorf("%+v", r)
			}
			if got, err := os.ReadFile(filepath.Join(p.host, "a.from-tool")); string(got) != "tool" {
				t.Errorf("ours is %q, %v", got, err)
			}
		})
	}
}

// onPut does something before the first put goes out.
type onPut struct {
	io.ReadWriteCloser
	do func()
}

func (c *onPut) Write(b []byte) (int, error) {
	if c.do != nil && b[0] == msgPut {
		c.do()
		c.do = nil
	}
	return c.ReadWriteCloser.Write(b)
}

// A file that changes each time it is sent is left to the next Sync, without an error.
func TestChangesWhileItIsSent(t *testing.T) {
	abc, scans := linkNode("abc").digest, 0
	c, tree, host := liar(t, func(w *wire, tag byte) error {
		switch tag {
		case msgScan:
			if scans++; scans > 1 {
				return w.write(msgDone, []byte{0, 0, 1})
			}
			return list(w, plain("a", aFile))
		default:
			return errors.Join(w.write(msgHead, appendNode(nil, aFile)), w.write(msgData, []byte("abc")),
				sendTail(w, scans == maxPasses+1, abc), w.write(msgDone, nil))
		}
	})
	if _, err := tree.Sync(t.Context(), c); err != nil || scans != maxPasses {
		t.Fatal(scans, err)
	}
	wantFiles(t, host, nil)
	if r, err := tree.Sync(t.Context(), c); err != nil || r.Fetched != 1 {
		t.Fatal(r, err)
	}
	wantFiles(t, host, files{"a": "abc"})
}

// A full disk on either side is an error that says so, and the next Sync continues.
func TestNoRoom(t *testing.T) {
	t.Run("here", func(t *testing.T) {
		room := 1
		p := start(t)
		p.tree.written = func(*os.Root, string) error {
			if room--; room < 0 {
				return fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return nil
		}
		write(t, p.container, files{"a": "1", "b": "2", "c": "3"})
		_, err := p.tree.Sync(t.Context(), p.client)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(fault.Hint(err), "disk is full") {
			t.Fatalf("%v (%s)", err, fault.Hint(err))
		}
		wantFiles(t, p.host, files{"a": "1"})
		room = 10
		if r := p.sync(); r.Fetched != 2 {
			t.Errorf("%+v", r)
		}
		p.equal()
	})
	t.Run("there", func(t *testing.T) {
		room := 1
		p := start(t)
		p.server.written = func(*os.Root, string) error {
			if room--; room < 0 {
				return fmt.Errorf("write: %w", syscall.ENOSPC)
			}
			return nil
		}
		write(t, p.host, files{"a": "1", "b": "2", "c": "3"})
		_, err := p.tree.Sync(t.Context(), p.client)
		if err == nil || !strings.Contains(err.Error(), "no room for") || fault.Hint(err) == "" {
			t.Fatal(err)
		}
		wantFiles(t, p.container, files{"a": "1"})
		room = 10
		if r := p.sync(); r.Put != 2 {
			t.Errorf("%+v", r)
		}
		p.equal()
	})
}

// A context ends a Sync that waits for a silent container, and closes the connection.
func TestContextEndsSync(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	c, tree, _ := liar(t, func(*wire, byte) error {
		cancel()
		<-release
		return net.ErrClosed
	})
	if _, err := tree.Sync(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := tree.Sync(t.Context(), c); err == nil {
		t.Error("the client goes on")
	}
}

// Serve returns when its context ends, and when the host closes the connection.
func TestServeEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(cancel func(), conn net.Conn)
		want error
	}{
		"context": {func(cancel func(), _ net.Conn) { cancel() }, context.Canceled},
		"host":    {func(_ func(), conn net.Conn) { conn.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a, b := net.Pipe()
			defer a.Close()
			served := make(chan error, 1) // one result
			go func() { served <- NewServer(nil).Serve(ctx, b) }()
			c.end(cancel, a)
			if err := <-served; !errors.Is(err, c.want) {
				t.Error(err)
			}
		})
	}
}

// One tree is synchronized over two connections in turn.
func TestSeveralConnections(t *testing.T) {
	p := start(t)
	first := p.client
	write(t, p.container, files{"a": "1"})
	p.sync()
	served := p.served
	p.connect()
	write(t, p.container, files{"b": "2"})
	p.sync()
	write(t, p.host, files{"c": "3"})
	_, err := p.tree.Sync(t.Context(), first)
	must(t, err)
	p.equal()
	first.Close()
	must(t, <-served)
}

// A tree that the container does not have is an error, and the connection stays usable.
func TestNoSuchTree(t *testing.T) {
	p := start(t)
	other, err := Open(Options{Name: "other", Dir: t.TempDir()})
	must(t, err)
	if _, err := other.Sync(t.Context(), p.client); err == nil || !strings.Contains(err.Error(), "no tree") {
		t.Error(err)
	}
	must(t, other.Close())
	p.sync()
	if _, err := other.Sync(t.Context(), p.client); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// Temporary files of an earlier process are removed on both sides, and never copied.
func TestRemnants(t *testing.T) {
	p := start(t)
	write(t, p.host, files{"d/" + temporaryName(): "half"})
	write(t, p.container, files{temporaryName(): "half", "a": "1"})
	p.sync()
	p.equal()
	wantFiles(t, p.host, files{"a": "1"})
}

// A truncated note keeps its complete lines, and opening it removes replaced ones.
func TestNote(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note")
	n, err := openNote(name)
	must(t, err)
	for i := range 100 {
		n.agree("a", node{kind: file, size: int64(i)})
	}
	n.agree("b c\n", linkNode("x"))
	n.agree("gone", aFile)
	n.agree("gone", node{})
	must(t, n.close())
	long, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, long[:len(long)-2], 0o600))
	n, err = openNote(name)
	must(t, err)
	must(t, n.close())
	want := map[string]node{"a": node{kind: file, size: 99}.normalized(), "b c\n": linkNode("x"), "gone": aFile.normalized()}
	if len(n.agreed) != 3 {
		t.Errorf("%v", n.agreed)
	}
	for path, is := range want {
		if n.agreed[path] != is {
			t.Errorf("%s is %v, not %v", path, n.agreed[path], is)
		}
	}
	short, err := os.Stat(name)
	must(t, err)
	if short.Size() > 500 {
		t.Errorf("it has %d bytes of %d", short.Size(), len(long))
	}
	if _, err := openNote(filepath.Join(name, "below")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A note does not grow with every change of the same file.
func TestNoteStaysSmall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note")
	n, err := openNote(name)
	must(t, err)
	path := strings.Repeat("\x01", maxName) // four bytes each in the note
	for i := range 10_000 {
		n.agree(path, node{kind: file, size: int64(i)})
		must(t, n.flush())
	}
	must(t, n.close())
	if info, err := os.Stat(name); err != nil || info.Size() > 2*slack {
		t.Errorf("one file takes %d bytes, %v", info.Size(), err)
	}
	n, err = openNote(name)
	must(t, err)
	if is := n.agreed[path]; len(n.agreed) != 1 || is.size != 9_999 {
		t.Errorf("%d files, %+v", len(n.agreed), is)
	}
	must(t, n.close())
}

// Each batch is noted before the next one is fetched, so that a killed process leaves at most one
// batch that its successor does not know of.
func TestEachBatchIsNoted(t *testing.T) {
	name, asked, last := filepath.Join(t.TempDir(), "note"), false, fmt.Sprintf("a%04d", batchPaths-1)
	p := start(t, func(o *Options) { o.Note = name })
	p.tree.written = func(*os.Root, string) error {
		if _, err := os.Stat(filepath.Join(p.host, last)); err == nil && !asked {
			asked = true
			if noted, err := os.ReadFile(name); err != nil || !strings.Contains(string(noted), `"`+last+`"`) {
				t.Errorf("not noted: %v", err)
			}
		}
		return nil
	}
	all := files{}
	for i := range batchPaths + 1 {
		all[fmt.Sprintf("a%04d", i)] = "1"
	}
	write(t, p.container, all)
	p.sync()
	if !asked {
		t.Error("all came at once")
	}
}
