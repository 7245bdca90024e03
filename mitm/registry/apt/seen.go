package apt

import "time"

// Seen remembers across processes what was accepted from repositories. Its methods are safe for
// concurrent use. An origin is named by its URL.
type Seen interface {
	// Distributions returns what is remembered about an origin.
	Distributions(origin string) []Distribution
	// Remember replaces what is remembered about one of its distributions.
	Remember(origin string, d Distribution) error
}

// Distribution is what is remembered about a distribution.
type Distribution struct {
	Name string    // as in its path: "stable", "stable/updates"
	Date time.Time // of the newest Release that was accepted
	// Indexes are the Packages and Sources that agents were given, by their paths below the
	// distribution: "main/binary-amd64/Packages.xz".
	Indexes []string
}
