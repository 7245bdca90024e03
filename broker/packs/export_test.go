package packs

// Bounded is what watches the size of packs while they are made.
var Bounded = bounded

// LowerMaxPack sets the size from which git begins another pack, until restore is called.
func LowerMaxPack(size int64) (restore func()) {
	before := maxPack
	maxPack = size
	return func() { maxPack = before }
}

// LowerMaxCommits sets how many commits are looked at, until restore is called.
func LowerMaxCommits(n int) (restore func()) {
	before := maxCommits
	maxCommits = n
	return func() { maxCommits = before }
}
