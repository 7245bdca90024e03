// Package usage reads from a provider's answer, while it streams, how many tokens a
// request has used and which model served it.
//
// A Meter gets the bytes after they were sent to the agent, so it never delays the answer
// or makes it fail. It holds a bounded number of bytes, and ignores what it cannot parse.
package usage

// Count is what one request has used, in tokens. In are the input tokens, without those
// that were read from or written to the provider's cache.
type Count struct {
	In         int64 `json:"in"`
	Out        int64 `json:"out"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
	CacheHour  int64 `json:"cacheHour,omitempty"` // the part of CacheWrite that is kept for an hour
	Fast       bool  `json:"fast,omitempty"`      // it was served with priority, at a higher price
	// Billed is the price that the provider reports, in US dollars; 0 when it reports
	// none.
	Billed float64 `json:"billedUsd,omitempty"`
}

// Zero reports whether nothing was counted.
func (c Count) Zero() bool { return c.In == 0 && c.Out == 0 && c.CacheRead == 0 && c.CacheWrite == 0 }

// Add returns the sum of the tokens of two counts. It leaves out CacheHour, Fast and
// Billed, which only matter for the price of a single request.
func (c Count) Add(d Count) Count {
	return Count{
		In:         c.In + d.In,
		Out:        c.Out + d.Out,
		CacheRead:  c.CacheRead + d.CacheRead,
		CacheWrite: c.CacheWrite + d.CacheWrite,
	}
}
