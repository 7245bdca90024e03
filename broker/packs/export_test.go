package packs

// Bounded is what watches the size of packs while they are made.
var Bounded = bounded

// LowerMaxCommits sets how many commits are looked at, until restore is called.
func LowerMaxCommits(n int) (restore func()) {
	before := maxCommits
	maxCommits = n
	return func() { maxCommits = before }
}
