//go:build !race

package broker

// fetchMemory bounds our own tool server likewise. The largest page takes half.
const fetchMemory = 192 << 20
