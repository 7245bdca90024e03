package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// disk is a file system that remembers, at every step, what a power cut could
// leave: what was synced is there, of the rest any beginning, or its length
// with zeros for some or all of its content. The head file is not synced; any of its states since the
// last sync may be what is left.
type disk struct {
	osFS
	log     []byte
	synced  int
	heads   [][]byte // the durable one first
	records int      // that Append has accepted
	cuts    []cut
}

// cut is what was on its way to the disk at one step.
type cut struct {
	step    string
	log     []byte
	synced  int
	heads   [][]byte
	records int
}

func (d *disk) step(name string) {
	d.cuts = append(d.cuts, cut{name, bytes.Clone(d.log), d.synced, slices.Clone(d.heads), d.records})
}

func (d *disk) Open(path string, as Role) (File, error) {
	f, err := d.osFS.Open(path, as)
	return &diskFile{File: f, disk: d, head: as == Head}, err
}

type diskFile struct {
	File
	disk *disk
	head bool
}

func (f *diskFile) Write(b []byte) (int, error) {
	f.disk.step("before write")
	n, err := f.File.Write(b)
	f.disk.log = append(f.disk.log, b[:n]...)
	f.disk.step("after write")
	return n, err
}

func (f *diskFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.disk.heads = append(f.disk.heads, bytes.Clone(b))
	f.disk.step("after the head")
	return n, err
}

func (f *diskFile) Sync() error {
	f.disk.step("before sync")
	err := f.File.Sync()
	if f.head {
		f.disk.heads = f.disk.heads[len(f.disk.heads)-1:]
	} else {
		f.disk.synced = len(f.disk.log)
	}
	f.disk.step("after sync")
	return err
}

// TestPowerCuts cuts the power at every step of a log's life and looks at what
// can be left: each record that was accepted is there, and the log goes on.
func TestPowerCuts(t *testing.T) {
	d := &disk{heads: [][]byte{nil}}
	l := open(t, filepath.Join(t.TempDir(), "audit.jsonl"), Options{FS: d})
	const records = 40
	for i := range records {
		if err := l.Append(context.Background(), record(i)); err != nil {
			t.Fatal(err)
		}
		d.records = i + 1
		d.step("accepted")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if len(d.cuts) < 200 {
		t.Fatalf("only %d cut points", len(d.cuts))
	}
	seen := map[string]bool{} // steps between which nothing changed
	for i, c := range d.cuts {
		loose := len(c.log) - c.synced
		images := map[string][]byte{
			"all of it": c.log, "what was synced": c.log[:c.synced], "half": c.log[:c.synced+loose/2],
			"all but the end": c.log[:c.synced+max(0, loose-1)],
			"its length only": append(bytes.Clone(c.log[:c.synced]), make([]byte, loose)...),
			"its second half": append(append(bytes.Clone(c.log[:c.synced]), make([]byte, loose/2)...), c.log[c.synced+loose/2:]...),
			"its two ends":    holed(c.log, c.synced+loose/3, c.synced+2*loose/3),
		}
		for name, log := range images {
			for _, head := range [][]byte{c.heads[0], c.heads[len(c.heads)/2], c.heads[len(c.heads)-1], make([]byte, headSize)} {
				key := fmt.Sprintf("%d %s %s", c.records, log, head)
				if seen[key] {
					continue
				}
				seen[key] = true
				survives(t, fmt.Sprintf("cut %d, %s, %s", i, c.step, name), log, head, c.records)
			}
		}
	}
}

// holed is the log with zeros in the place of some bytes.
func holed(log []byte, from, to int) []byte {
	log = bytes.Clone(log)
	clear(log[from:to])
	return log
}

// survives opens what is left and goes on with it.
func survives(t *testing.T, what string, log, head []byte, accepted int) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")
	for name, data := range map[string][]byte{path: log, headName(path): head} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(path, Options{NoSync: true})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := l.Append(context.Background(), record(9999)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := l.Close(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if _, err := Verify(path); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), `"plane":"tool"`); got < accepted+1 {
		t.Fatalf("%s: %d records are left of %d that were accepted", what, got-1, accepted)
	}
}
