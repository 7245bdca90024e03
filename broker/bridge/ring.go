package bridge

// How many bytes of a terminal's output are kept, and in pieces of which size.
const (
	ringSize  = 8 << 20
	ringChunk = 64 << 10
)

// ring keeps the last ringSize bytes of a stream. It grows as needed, and counts bytes from the
// beginning of the stream.
type ring struct {
	chunks     [][]byte // of ringChunk bytes each; start is in the first one
	first      uint64   // where the first chunk begins
	start, end uint64   // what is kept
}

// put adds bytes at the end, and drops the oldest ones that do not fit.
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

// grow adds a chunk at the end: a new one, or the oldest one once there are enough. There is one chunk
// more than ringSize needs, because start may be within one.
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

// read copies kept bytes from an offset on, and returns how many.
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
