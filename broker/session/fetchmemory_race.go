//go:build race

package session

// fetchMemory sets no limit, because the race detector's own memory counts as the
// program's and exceeds the usual limit.
const fetchMemory = 0
