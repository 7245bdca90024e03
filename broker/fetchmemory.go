//go:build !race

package broker

// fetchMemory bounds our own tool server likewise.
const fetchMemory = 192 << 20
