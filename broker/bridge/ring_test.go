package bridge

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The ring always has the last bytes that were put into it.
func TestRingKeepsTheEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var r ring
	var all []byte
	for range 700 {
		p := make([]byte, random.IntN(60<<10))
		for i := range p {
			p[i] = byte(random.Uint32())
		}
		r.put(p)
		all = append(all, p...)
		want := all[max(0, len(all)-ringSize):]
		if r.end != uint64(len(all)) || r.end-r.start != uint64(len(want)) {
			t.Fatalf("of %d bytes it keeps %d to %d", len(all), r.start, r.end)
		}
		from := r.start + uint64(random.Int64N(int64(r.end-r.start)+1))
		got := make([]byte, random.IntN(200<<10))
		n := r.read(got, from)
		if want := all[from:min(from+uint64(len(got)), r.end)]; !bytes.Equal(got[:n], want) {
			t.Fatalf("from %d it has %d bytes, not the %d that there were", from, n, len(want))
		}
	}
	if len(r.chunks) != ringSize/ringChunk+1 {
		t.Errorf("%d chunks are kept", len(r.chunks))
	}
}

// A ring with little in it takes little memory.
func TestRingIsSmallAtFirst(t *testing.T) {
	var r ring
	r.put([]byte("a prompt"))
	if len(r.chunks) != 1 {
		t.Errorf("%d chunks are kept", len(r.chunks))
	}
}
