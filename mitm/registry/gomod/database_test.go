package gomod

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// What the go command reads of the database passes as it is, when it belongs to the tree.
func TestDatabasePassesItsTree(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	f.put(t, "a.example/Big", "v1.0.0", released)
	f.put(t, "a.example/Big", "v1.1.0", released)
	f.record(t, "a.example/Big@v1.0.0", "a.example/Big@v1.1.0")
	e := at(heads)
	for _, path := range []string{"supported", "latest", "lookup/a.example/%21big@v1.0.0", "tile/8/0/000.p/2", "tile/8/0/000.p/1"} {
		t.Run(path, func(t *testing.T) {
			facts, a, err := f.facts(t, e, "sumdb/sums.example/"+path)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := e.Write(&out, facts, a, func(string) bool { return false }); err != nil {
				t.Fatal(err)
			}
			if path == "supported" {
				return
			}
			want, err := f.get(t.Context(), "sumdb/sums.example/"+path)
			if err != nil || !bytes.Equal(out.Bytes(), want) {
				t.Errorf("the answer is %q, not %q, %v", out.Bytes(), want, err)
			}
		})
	}
	facts, a, err := f.facts(t, e, "sumdb/sums.example/lookup/a.example/%21big@v1.0.0")
	if err != nil || facts.Name != "a.example/Big" || facts.Version("v1.0.0") == nil {
		t.Fatalf("a look-up has the facts %+v, %v", facts, err)
	}
	if r := registrytest.Refusal(t, e.Write(&bytes.Buffer{}, facts, a, func(string) bool { return true })); r.Status != 403 {
		t.Errorf("the look-up of a hidden version is refused with %d", r.Status)
	}
}

// A part of no tree is not asked for: its number could say anything.
func TestTilesBeyondTheTreeAreNotAskedFor(t *testing.T) {
	f := newForge(t)
	f.put(t, "a.example/b", "v1.0.0", released)
	f.record(t, "a.example/b@v1.0.0")
	e := at(&Memory{})
	for _, path := range []string{"tile/8/0/x123/456", "tile/8/0/000.p/2", "tile/8/1/000.p/1", "tile/8/7/000", "tile/8/62/000"} {
		t.Run(path, func(t *testing.T) {
			_, _, err := f.facts(t, e, "sumdb/sums.example/"+path)
			if r := registrytest.Refusal(t, err); r.Reason != registry.ReasonUnlisted {
				t.Errorf("refused with %s: %s", r.Reason, r.Text)
			}
		})
	}
	for _, path := range f.paths() {
		if strings.Contains(path, "/tile/") && path != "/sumdb/sums.example/tile/8/0/000.p/1" {
			t.Errorf("%s was asked for", path)
		}
	}
}

// has agrees with the tree's own tiles.
func TestHas(t *testing.T) {
	for size := range int64(1400) {
		if size%37 != 0 && size%256 > 1 {
			continue
		}
		whole := map[tlog.Tile]bool{}
		for _, tile := range tlog.NewTiles(tileHeight, 0, size) {
			for w := 1; w <= tile.W; w++ {
				part := tile
				part.W = w
				whole[part] = true
			}
		}
		for level := range 3 {
			for n := range int64(7) {
				for _, w := range []int{1, 2, 37, 255, 256} {
					tile := tlog.Tile{H: tileHeight, L: level, N: n, W: w}
					if got := has(tlog.Tree{N: size}, tile); got != whole[tile] {
						t.Fatalf("a tree of %d has %v: %v", size, tile, got)
					}
				}
			}
		}
	}
}

// A database that answers with what is not of its tree is not believed.
func TestDatabaseIsNotBelieved(t *testing.T) {
	const lookup = "/sumdb/sums.example/lookup/a.example/b@v1.0.0"
	for name, test := range map[string]struct {
		spoil  func(f *forge, lookup []byte)
		reason registry.Reason
	}{
		"another hash": {func(f *forge, data []byte) {
			f.files[lookup] = bytes.Replace(data, []byte("v1.0.0 h1:"), []byte("v1.0.0 h1:A"), 1)
		}, registry.ReasonDocument},
		"another number": {func(f *forge, data []byte) { f.files[lookup] = append([]byte("1"), data[1:]...) }, registry.ReasonDocument},
		"another module": {func(f *forge, data []byte) {
			f.files[lookup] = bytes.ReplaceAll(data, []byte("a.example/b"), []byte("a.example/c"))
		}, registry.ReasonDocument},
		"no signature": {func(f *forge, data []byte) {
			f.files[lookup] = data[:bytes.Index(data, []byte("\n\u2014"))+1]
		}, registry.ReasonDocument},
		"nonsense": {func(f *forge, _ []byte) { f.files[lookup] = []byte("<html>") }, registry.ReasonDocument},
		"too much": {func(f *forge, _ []byte) { f.files[lookup] = make([]byte, maxRecord+1) }, registry.ReasonLimit},
		"another tile": {func(f *forge, _ []byte) {
			f.files["/sumdb/sums.example/tile/8/0/000.p/2"] = make([]byte, 64)
		}, registry.ReasonDocument},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			f.put(t, "a.example/b", "v1.0.0", released)
			f.put(t, "a.example/c", "v1.0.0", released)
			f.record(t, "a.example/b@v1.0.0", "a.example/c@v1.0.0")
			data, err := f.get(t.Context(), lookup[1:])
			if err != nil {
				t.Fatal(err)
			}
			f.mu.Lock()
			test.spoil(f, data)
			f.mu.Unlock()
			_, _, err = f.facts(t, at(&Memory{}), "a.example/b/@v/v1.0.0.zip")
			if r := registrytest.Refusal(t, err); r.Reason != test.reason {
				t.Errorf("refused with %s: %s", r.Reason, r.Text)
			}
		})
	}
}

// A record counts for the versions of which it has one line each, whatever else it names.
func TestRecordsOfSeveralModules(t *testing.T) {
	const hash = " h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
	for more, ok := range map[string]bool{
		"a.example/c v1.0.0" + hash:        true,
		"a.example/b v1.0.0" + hash:        false,
		"a.example/b v1.0.0/go.mod" + hash: false,
		"a.example/b  v1.0.0" + hash:       true, // of no version
	} {
		f := newForge(t)
		f.more = more
		f.put(t, "a.example/b", "v1.0.0", released)
		f.put(t, "a.example/c", "v1.0.0", released)
		e := at(&Memory{})
		facts, _, err := f.facts(t, e, "a.example/b/@v/v1.0.0.zip")
		if (err == nil) != ok {
			t.Errorf("%q: %v", more, err)
		}
		if err == nil && strings.Contains(string(facts.Versions[0].Files[0].Digests[0].Sum), "AAAA") {
			t.Errorf("%q: has the hash of another line", more)
		}
	}
}

// A head that another key has signed is neither believed nor held.
func TestAnotherSignerIsNotBelieved(t *testing.T) {
	f, other := newForge(t), newForge(t)
	f.put(t, "a.example/b", "v1.0.0", released)
	f.origin.Keys = other.origin.Keys
	heads := &Memory{}
	_, _, err := f.facts(t, at(heads), "a.example/b/@v/v1.0.0.zip")
	if r := registrytest.Refusal(t, err); r.Reason != registry.ReasonDocument {
		t.Errorf("refused with %s: %s", r.Reason, r.Text)
	}
	if heads.Latest("sums.example") != nil {
		t.Error("the head is held")
	}
}

// A database that shows another past than before is refused.
func TestForkIsRefused(t *testing.T) {
	first := newForge(t)
	first.put(t, "a.example/b", "v1.0.0", released)
	first.record(t, "a.example/b@v1.0.0")
	second := first.fork(t)
	second.put(t, "a.example/c", "v1.0.0", released)
	second.put(t, "a.example/c", "v1.1.0", released)
	second.record(t, "a.example/c@v1.0.0", "a.example/c@v1.1.0")
	heads := &Memory{}
	e := at(heads)
	if _, _, err := first.facts(t, e, "a.example/b/@v/v1.0.0.zip"); err != nil {
		t.Fatal(err)
	}
	before := heads.Latest("sums.example")
	for _, path := range []string{"a.example/c/@v/v1.0.0.zip", "sumdb/sums.example/latest"} {
		t.Run(path, func(t *testing.T) {
			_, _, err := second.facts(t, e, path)
			if r := registrytest.Refusal(t, err); r.Reason != registry.ReasonDigest || !strings.Contains(r.Text, "contradicts") {
				t.Errorf("refused with %s: %s", r.Reason, r.Text)
			}
		})
	}
	if !bytes.Equal(before, heads.Latest("sums.example")) {
		t.Error("the head of another past is held")
	}
}

func TestAVersionWithoutARecordIsRefused(t *testing.T) {
	f := newForge(t)
	f.put(t, "a.example/b", "v1.0.0", released)
	f.mu.Lock()
	delete(f.files, "/a.example/b/@v/v1.0.0.zip")
	f.mu.Unlock()
	_, _, err := f.facts(t, at(&Memory{}), "a.example/b/@v/v1.0.0.zip")
	if r := registrytest.Refusal(t, err); r.Status != 403 || r.Reason != registry.ReasonUnlisted {
		t.Errorf("refused with %d %s: %s", r.Status, r.Reason, r.Text)
	}
}

// Memory answers like one that forgets nothing, but for an hour.
func TestMemoryForgetsNothingThatMatters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m := &Memory{}
	var all []Head
	for range 400 {
		h := Head{Size: random.Int64N(1000), Time: noon.Add(time.Duration(random.Int64N(1000)) * 10 * time.Minute)}
		all = append(all, h)
		if err := m.Hold("sums.example", h, nil); err != nil {
			t.Fatal(err)
		}
	}
	for record := range int64(1000) {
		var want time.Time
		for _, h := range all {
			if h.Size > record && (want.IsZero() || h.Time.Before(want)) {
				want = h.Time
			}
		}
		got, ok := m.Since("sums.example", record)
		if ok == want.IsZero() || got.Before(want) || got.Sub(want) > grain {
			t.Fatalf("record %d is known since %v, not %v", record, got, want)
		}
	}
	if n := len(m.held["sums.example"]); n > 100 {
		t.Errorf("%d heads are kept", n)
	}
}

func TestMemoryTellsOfAConflict(t *testing.T) {
	m := &Memory{}
	if err := m.Hold("sums.example", Head{Size: 2, Time: noon, Signed: []byte("two")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Hold("sums.example", Head{Size: 3, Time: noon, Signed: []byte("three")}, nil); !errors.Is(err, ErrConflict) {
		t.Errorf("a head that does not know of the one before: %v", err)
	}
	if string(m.Latest("sums.example")) != "two" {
		t.Errorf("the latest is %s", m.Latest("sums.example"))
	}
}

// Many ask at once, while the database grows: each look-up adds a record.
func TestManyLookUpAtOnce(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	for i := range 8 {
		f.put(t, fmt.Sprintf("a.example/b%d", i), "v1.0.0", released)
	}
	e := at(heads)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			path := fmt.Sprintf("a.example/b%d/@v/v1.0.0.zip", i)
			a, err := f.parse(e, path)
			if err == nil {
				_, err = e.Facts(t.Context(), f, f.origin, a)
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
	group.Wait()
	if since, ok := heads.Since("sums.example", 7); !ok || !since.Equal(noon) {
		t.Errorf("the last record is known since %v, %v", since, ok)
	}
}
