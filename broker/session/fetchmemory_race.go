//go:build race

package session

// fetchMemory is no bound: what the race detector keeps of a program's memory counts as
// the program's, and alone takes more.
const fetchMemory = 0
