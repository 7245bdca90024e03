package packs

// LimitSize ends a context when packs become too large.
var LimitSize = limitSize

// LowerMaxCommits sets how many commits are read, until restore is called.
func LowerMaxCommits(n int) (restore func()) {
	before := maxCommits
	maxCommits = n
	return func() { maxCommits = before }
}
