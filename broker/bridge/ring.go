package bridge

// Sizes of what is kept of a terminal's output, in bytes.
const (
	ringSize  = 8 << 20
	ringChunk = 64 << 10
)

// ring keeps the last bytes of a stream: at most ringSize, and memory for no more than there
// have been. It counts bytes from the beginning of the stream.
type ring struct {
	chunks     [][]byte // of ringChunk bytes each; start is in the first one
	first      uint64   // where the first chunk begins
	start, end uint64   // what is kept
}

// put adds bytes at the end, and drops as many at the start as do not fit.
func (r *ring) put(p []byte) {
	for len(p) > 0 {
		at := int(r.end - r.first)
		if at == len(r.chunks)*ringChunk {
			r.grow()
			at = int(r.end - r.first)
		}
		n := copy(r.chunks[at/ringChunk][at%ringChunk:], p)
		p = p[n:]
		r.end += uint64(n)
	}
	if r.end-r.start > ringSize {
		r.start = r.end - ringSize
	}
}

// grow adds a chunk at the end: the first one, when its bytes need not be kept, else a new
// one. There is one chunk more than ringSize needs, as start may lie within one.
func (r *ring) grow() {
	if len(r.chunks) <= ringSize/ringChunk {
		r.chunks = append(r.chunks, make([]byte, ringChunk))
		return
	}
	oldest := r.chunks[0]
	copy(r.chunks, r.chunks[1:])
	r.chunks[len(r.chunks)-1] = oldest
	r.first += ringChunk
	r.start = max(r.start, r.first)
}

// read copies bytes from a place on that is kept, and returns how many.
func (r *ring) read(p []byte, from uint64) (n int) {
	for n < len(p) && from < r.end {
		at := int(from - r.first)
		part := r.chunks[at/ringChunk][at%ringChunk:]
		part = part[:min(uint64(len(part)), r.end-from)]
		k := copy(p[n:], part)
		n += k
		from += uint64(k)
	}
	return n
}
