//go:build !race

package session

// fetchMemory bounds our own tool server likewise.
const fetchMemory = 192 << 20
