package packs

// Bounded is what watches the size of packs while they are made.
var Bounded = bounded

// LowerMaxPack sets the size from which git begins another pack, until restore is called.
func LowerMaxPack(size int64) (restore func()) {
	before := maxPack
	maxPack = size
	return func() { maxPack = before }
}
