package treesync

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// aFile is the node of a file.
var aFile = node{kind: file, perm: 0o644, size: 3}

// liar is a hostile container: it calls answer for each request, with the request's first tag,
// when it has read all of it.
func liar(t *testing.T, answer func(w *wire, tag byte) error) (*Client, *Tree, string) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer b.Close()
		w := newWire(b)
		for {
			tag, _, err := w.read()
			if err != nil {
				return
			}
			if tag == msgHello {
				if w.write(msgHello, binary.AppendUvarint(nil, version)) != nil {
					return
				}
				continue
			}
			for last := tag; last != msgScan && last != msgLast; {
				if last, _, err = w.read(); err != nil {
					return
				}
			}
			if answer(w, tag) != nil || w.w.Flush() != nil {
				return
			}
		}
	}()
	dir := t.TempDir()
	tree, err := Open(Options{Name: "workspace", Dir: dir})
	must(t, err)
	c := NewClient(a)
	t.Cleanup(func() {
		c.Close()
		b.Close()
		<-done
		must(t, tree.Close())
	})
	return c, tree, dir
}

// list answers a scan with entries, however wrong they are.
func list(w *wire, all ...entry) error {
	p := &packer{w: w}
	for _, e := range all {
		p.last = "" // nothing is shared
		if err := p.add(e); err != nil {
			return err
		}
		if err := p.flush(); err != nil {
			return err
		}
	}
	return w.write(msgDone, []byte{0, 0, byte(len(all))})
}

func plain(path string, n node) entry { return entry{path, n} }

// A list that is no tree ends the connection, and nothing is written.
func TestListsThatAreNoTree(t *testing.T) {
	dir := node{kind: directory, perm: 0o755}
	for name, all := range map[string][]entry{
		"parent":              {plain("../x", aFile)},
		"parent within":       {plain("a", dir), plain("a/../../x", aFile)},
		"absolute":            {plain("/etc/passwd", aFile)},
		"empty":               {plain("", aFile)},
		"itself":              {plain(".", dir)},
		"two slashes":         {plain("a", dir), plain("a//x", aFile)},
		"slash at the end":    {plain("a/", dir)},
		"zero byte":           {plain("a\x00b", aFile)},
		"no text":             {plain("a\xff", aFile)},
		"twice":               {plain("a", aFile), plain("a", aFile)},
		"out of order":        {plain("b", aFile), plain("a", aFile)},
		"order of bytes":      {plain("a", dir), plain("a-b", aFile), plain("a/b", aFile)},
		"file as directory":   {plain("a", aFile), plain("a/b", aFile)},
		"link as directory":   {plain("a", linkNode("/etc")), plain("a/b", aFile)},
		"no directory":        {plain("a/b", aFile)},
		"directory long gone": {plain("a", dir), plain("b", aFile), plain("b/c", aFile)},
		"too deep":            {plain(strings.Repeat("a/", 64)+"a", aFile)},
		"long name":           {plain(strings.Repeat("a", 256), aFile)},
		"long path":           {plain(strings.Repeat(strings.Repeat("a", 200)+"/", 21)+"a", aFile)},
		"temporary":           {plain(temporaryName(), aFile)},
		"unknown kind":        {plain("a", node{kind: 77})},
	} {
		t.Run(name, func(t *testing.T) {
			c, tree, host := liar(t, func(w *wire, _ byte) error { return list(w, all...) })
			if r, err := tree.Sync(t.Context(), c); err == nil {
				t.Fatalf("it was taken: %+v", r)
			}
			_, err := tree.Sync(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), "exchange files") {
				t.Errorf("the client goes on: %v", err)
			}
			wantFiles(t, host, nil)
		})
	}
}

// An endless list is refused at a limit, of entries or of bytes, and its memory is freed.
func TestListsWithoutEnd(t *testing.T) {
	for name, path := range map[string]func(i int) string{
		"many": func(i int) string { return fmt.Sprintf("%09d", i) },
		"long": func(i int) string { return fmt.Sprintf("%09d%s", i, strings.Repeat("x", 200)) },
	} {
		t.Run(name, func(t *testing.T) {
			var sent int
			c, tree, _ := liar(t, func(w *wire, _ byte) error {
				p := &packer{w: w}
				for ; ; sent++ {
					if err := p.add(plain(path(sent), aFile)); err != nil {
						return err
					}
				}
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := tree.Sync(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), "list of files") {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
				t.Errorf("%d bytes are kept", grown)
			}
		})
	}
}

// The largest list that is accepted takes little more memory than its paths.
func TestListIsCompact(t *testing.T) {
	const count = 200_000
	c, _, _ := liar(t, func(w *wire, _ byte) error {
		p := &packer{w: w}
		for i := range count {
			if err := p.add(plain(fmt.Sprintf("package-with-a-long-name-%09d", i), aFile)); err != nil {
				return err
			}
		}
		return errors.Join(p.flush(), w.write(msgDone, binary.AppendUvarint([]byte{0, 0}, count)))
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := c.scan(t.Context(), "workspace", count, 1<<20)
	must(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > maxListBytes || len(m.all) != count {
		t.Errorf("%d entries take %d bytes", len(m.all), grown)
	}
	if _, err := c.scan(t.Context(), "home", count, 1<<20); err == nil || !strings.Contains(err.Error(), "longer than 24 MiB") {
		t.Errorf("a second one: %v", err)
	}
}

// A malformed answer to a fetch is an error, and nothing is written.
func TestAnswersThatAreNone(t *testing.T) {
	sized := func(size int64) []byte { return appendNode(nil, node{kind: file, size: size}) }
	for name, answer := range map[string]func(w *wire) error{
		"more than it said": func(w *wire) error {
			return errors.Join(w.write(msgHead, sized(3)), w.write(msgData, []byte("abcd")))
		},
		"without end": func(w *wire) error {
			if err := w.write(msgHead, sized(3)); err != nil {
				return err
			}
			for {
				if err := w.write(msgData, nil); err != nil {
					return err
				}
			}
		},
		"too large":          func(w *wire) error { return w.write(msgHead, sized(1<<40)) },
		"another target":     func(w *wire) error { return w.write(msgHead, appendText(appendNode(nil, linkNode("a")), "b")) },
		"no answer":          func(w *wire) error { return w.write(msgDone, nil) },
		"a frame too large":  func(w *wire) error { return w.write(msgHead, make([]byte, maxFrame+1)) },
		"half":               func(w *wire) error { return w.write(msgHead, sized(3)) },
		"more after the end": func(w *wire) error { return w.write(msgHead, append(sized(3), 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			c, tree, host := liar(t, func(w *wire, tag byte) error {
				if tag == msgScan {
					return list(w, plain("a", aFile))
				}
				return errors.Join(answer(w), w.w.Flush(), net.ErrClosed) // nothing more
			})
			if r, err := tree.Sync(t.Context(), c); err == nil {
				t.Fatalf("it was taken: %+v", r)
			}
			wantFiles(t, host, nil)
		})
	}
}

// The container's links are copied and nothing is written through them, neither in place of a
// former directory nor where the container has a directory.
func TestLinksAreNotFollowed(t *testing.T) {
	outside := t.TempDir()
	p := start(t)
	write(t, p.container, map[string]string{"d/x": "1"})
	p.sync()
	write(t, p.container, map[string]string{"d": "@" + outside, "e": "@d", "f": "@..", "g": "@/etc/passwd"})
	p.sync()
	p.equal()
	// A tool's link stands where the container has a directory.
	write(t, p.container, map[string]string{"d": "", "h/x": "1"})
	p.sync()
	write(t, p.host, map[string]string{"h": "@" + outside})
	write(t, p.container, map[string]string{"h/x": "2", "h/y": "3"})
	p.sync()
	p.equal()
	wantFiles(t, outside, nil)
}

// A directory that is replaced by a link between comparing and writing is not written through,
// even if the link leads to another directory of the tree.
func TestDirectoryExchangedForLink(t *testing.T) {
	p := start(t)
	write(t, p.container, map[string]string{"a/x": "1", "b/x": "2"})
	p.sync()
	at := disk{look: (*os.Root).Lstat, scanner: scanner{root: p.tree.root, digests: newDigests()}}
	write(t, p.host, map[string]string{"a": "@b"})
	if _, err := at.draft("a/x"); !errors.Is(err, errInTheWay) {
		t.Errorf("draft: %v", err)
	}
	if err := at.remove("a/x"); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := at.mkdir("a/y", 0o700); !errors.Is(err, errInTheWay) {
		t.Errorf("mkdir: %v", err)
	}
	if err := at.symlink("a/y", "x"); !errors.Is(err, errInTheWay) {
		t.Errorf("symlink: %v", err)
	}
	if err := at.chmod("a", directory, 0o700); !errors.Is(err, errInTheWay) {
		t.Errorf("chmod: %v", err)
	}
	wantFiles(t, p.host, map[string]string{"a": "@b", "b/x": "2"})
}

// Listing a directory that was replaced by a pipe fails, and does not wait for a writer.
func TestPipeForADirectory(t *testing.T) {
	dir := t.TempDir()
	seen, err := os.Stat(dir)
	must(t, err)
	pipe := filepath.Join(dir, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	listed := make(chan error, 1) // one result
	go func() {
		_, err := (&scanner{root: root}).list("pipe", seen)
		listed <- err
	}()
	select {
	case err = <-listed:
	case <-time.After(10 * time.Second):
		f, openErr := os.OpenFile(pipe, os.O_WRONLY, 0) // lets list return
		must(t, openErr)
		f.Close()
		err = errors.Join(errors.New("it waits"), <-listed)
	}
	if !errors.Is(err, errOther) {
		t.Error(err)
	}
}

// Devices, pipes and sockets are never opened; they and special bits are counted.
func TestOddThings(t *testing.T) {
	p := start(t)
	write(t, p.container, map[string]string{"a": "1", "set": "2"})
	must(t, os.Chmod(filepath.Join(p.container, "set"), fs.ModeSetuid|0o755))
	must(t, syscall.Mkfifo(filepath.Join(p.container, "pipe"), 0o644))
	must(t, syscall.Mkfifo(filepath.Join(p.host, "mine"), 0o644))
	r := p.sync()
	if r.Odd != 1 || r.Dropped != 1 || r.Fetched != 2 {
		t.Errorf("%+v", r)
	}
	wantFiles(t, p.host, map[string]string{"a": "1", "set": "2", "mine": "odd"})
	info, err := os.Stat(filepath.Join(p.host, "set"))
	must(t, err)
	if info.Mode() != 0o755 {
		t.Errorf("the mode is %v", info.Mode())
	}
}
