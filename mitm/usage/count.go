// Package usage reads from a provider's answer, as it streams by, how many
// tokens a request has used and which model served it.
//
// A Meter is a tee: it is given the bytes after they were sent on, never
// delays and never fails them, and holds a bounded amount. What it cannot
// understand it does not count.
package usage

// Count is what one request has used, in tokens. In are the tokens read anew,
// without those that came from or went into the provider's cache.
type Count struct {
	In         int64 `json:"in"`
	Out        int64 `json:"out"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
	CacheHour  int64 `json:"cacheHour,omitempty"` // of CacheWrite, what is kept for an hour
	Fast       bool  `json:"fast,omitempty"`      // it was served ahead of others, for more money
	// Billed is what the provider says that it takes for it, in US dollars; 0 when it
	// does not say.
	Billed float64 `json:"billedUsd,omitempty"`
}

// Zero says whether nothing was counted.
func (c Count) Zero() bool { return c.In == 0 && c.Out == 0 && c.CacheRead == 0 && c.CacheWrite == 0 }

// Add returns the sum of two counts. How dear the single ones were is not part of it.
func (c Count) Add(d Count) Count {
	return Count{
		In:         c.In + d.In,
		Out:        c.Out + d.Out,
		CacheRead:  c.CacheRead + d.CacheRead,
		CacheWrite: c.CacheWrite + d.CacheWrite,
	}
}
