//go:build !race

package session

// fetchMemory limits the memory of each process of our own fetch server, in bytes, as
// filesMemory does for the filesystem server.
const fetchMemory = 192 << 20
