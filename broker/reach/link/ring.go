package link

// ring is a queue of bytes. It grows as needed, up to most.
type ring struct {
	most  int
	bytes []byte
	first int // index of the first byte
	size  int
}

// minRing is the smallest capacity of a ring that is not empty, in bytes.
const minRing = 4 << 10

// push adds p. The caller has checked that the ring stays within most.
func (r *ring) push(p []byte) {
	if need := r.size + len(p); need > len(r.bytes) {
		grown := make([]byte, max(need, min(max(2*len(r.bytes), minRing), r.most)))
		r.peek(grown[:r.size], 0)
		r.bytes, r.first = grown, 0
	}
	at := (r.first + r.size) % max(len(r.bytes), 1)
	n := copy(r.bytes[at:], p)
	copy(r.bytes, p[n:])
	r.size += len(p)
}

// peek copies len(p) bytes from the given index on, and does not remove them.
func (r *ring) peek(p []byte, from int) {
	if len(p) == 0 {
		return
	}
	at := (r.first + from) % len(r.bytes)
	n := copy(p, r.bytes[at:])
	copy(p[n:], r.bytes)
}

// drop removes the first n bytes.
func (r *ring) drop(n int) {
	if n == 0 {
		return
	}
	r.first = (r.first + n) % len(r.bytes)
	if r.size -= n; r.size == 0 {
		r.first = 0
	}
}

// shrink frees the memory of an empty ring.
func (r *ring) shrink() {
	if r.size == 0 {
		r.bytes = nil
	}
}
