package treesync

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// replay is a connection to a peer whose messages were all recorded before.
type replay struct{ io.Reader }

func (replay) Write(b []byte) (int, error) { return len(b), nil }
func (replay) Close() error                { return nil }

// frames returns the bytes that write sends.
func frames(write func(w *wire)) []byte {
	var b bytes.Buffer
	w := newWire(&b)
	write(w)
	w.w.Flush()
	return b.Bytes()
}

// around makes a tree's directory beside other files. unchanged fails the test if those changed.
func around(t *testing.T) (dir string, unchanged func()) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "tree")
	write(t, top, map[string]string{"tree/a": "abc", "tree/d/b": "1", "tree/l": "@../secret", "secret": "s", "x/y": "z"})
	return dir, func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, top, map[string]string{"secret": "s", "x/y": "z"})
	}
}

// Whatever a host sends, the container's end does not panic, and touches nothing outside its
// tree.
func FuzzServer(f *testing.F) {
	hello := binary.AppendUvarint(appendText(nil, magic), version)
	scan := append(appendText(nil, "workspace"), 100, 100)
	order := append(appendText(nil, "workspace"), 100)
	abc := node{kind: file, perm: 0o644, size: 3, digest: linkNode("abc").digest}
	f.Add(frames(func(w *wire) { _ = w.write(msgHello, hello); _ = w.write(msgScan, scan) }))
	f.Add(frames(func(w *wire) {
		_ = w.write(msgHello, hello)
		_ = w.write(msgFetch, order)
		_ = w.write(msgPaths, appendText(appendText(nil, "a"), "l"))
		_ = w.write(msgLast, nil)
	}))
	f.Add(frames(func(w *wire) {
		_ = w.write(msgHello, hello)
		_ = w.write(msgPut, order)
		for _, o := range []op{
			{path: "n", wanted: abc},
			{path: "a", expected: abc},
			{path: "l", expected: linkNode("../secret"), wanted: node{kind: directory, perm: 0o755}},
			{path: "m", wanted: linkNode("x"), target: "x"},
		} {
			_ = w.write(msgOp, o.append(nil))
			if o.carries() {
				_ = w.write(msgData, []byte("abc"))
				_ = sendTail(w, true, abc.digest)
			}
		}
		_ = w.write(msgLast, nil)
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir, unchanged := around(t)
		_ = NewServer(map[string]string{"workspace": dir}).Serve(t.Context(), replay{bytes.NewReader(b)})
		unchanged()
	})
}

// Whatever a container answers, the host's end does not panic, and touches nothing outside its
// tree.
func FuzzClient(f *testing.F) {
	hello := func(w *wire) { _ = w.write(msgHello, binary.AppendUvarint(nil, version)) }
	f.Add(frames(func(w *wire) {
		hello(w)
		_ = list(w, plain("l", node{kind: directory, perm: 0o700}), plain("l/x", aFile))
		_ = w.write(msgHead, appendNode(nil, aFile))
		_ = w.write(msgData, []byte("abc"))
		_ = sendTail(w, true, linkNode("abc").digest)
		_ = w.write(msgDone, nil)
	}))
	f.Add(frames(func(w *wire) {
		hello(w)
		_ = list(w, plain("a", linkNode("x")))
		_ = w.write(msgHead, appendText(appendNode(nil, linkNode("x")), "x"))
		_ = w.write(msgDone, nil)
		_ = w.write(msgStatus, []byte{statusDone, statusFull, statusKept})
		_ = w.write(msgDone, appendText(nil, "no space"))
	}))
	f.Add(frames(func(w *wire) { hello(w); _ = w.write(msgFailed, appendText(nil, "no")) }))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir, unchanged := around(t)
		tree, err := Open(Options{Name: "workspace", Dir: dir, limits: limits{Files: 50, Bytes: 1000, Each: 500}})
		must(t, err)
		r, err := tree.Sync(t.Context(), NewClient(replay{bytes.NewReader(b)}))
		if err == nil && r.Bytes > 4*1000 {
			t.Errorf("%+v", r)
		}
		must(t, tree.Close())
		unchanged()
	})
}

// Any file can be opened as a note, and reads the same the next time.
func FuzzNote(f *testing.F) {
	f.Add(line("a", aFile) + line("b \n", linkNode("x")) + line("a", node{}))
	f.Add(line("d", node{kind: directory, perm: 0o755}) + "+ 1 644 3 ab")
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "note")
		must(t, os.WriteFile(name, []byte(text), 0o600))
		n, err := openNote(name)
		must(t, err)
		n.agree("new", aFile)
		must(t, n.close())
		again, err := openNote(name)
		must(t, err)
		if len(again.agreed) != len(n.agreed) {
			t.Errorf("%v became %v", n.agreed, again.agreed)
		}
		must(t, again.close())
	})
}
