package gomod

import "time"

// Ecosystem reads module proxies. It is a registry.Ecosystem.
type Ecosystem struct {
	heads Heads
	cache cache
	now   func() time.Time
}

// New returns the ecosystem. It derives ages from heads.
func New(heads Heads) *Ecosystem {
	return &Ecosystem{heads: heads, now: time.Now}
}

// Name is "go".
func (*Ecosystem) Name() string { return "go" }

// The forms of requests. They are Ask.Form.
const (
	formList      = "list"
	formLatest    = "latest"
	formInfo      = "info"
	formMod       = "mod"
	formZip       = "zip"
	formSupported = "supported"
	formTree      = "tree"
	formLookup    = "lookup"
	formTile      = "tile"
)

// The bounds of what a module proxy may send, in bytes.
const (
	maxInfo   = 64 << 10
	maxMod    = 1 << 20
	maxList   = 8 << 20
	maxRecord = 64 << 10
	maxTile   = 64 << 10
)
