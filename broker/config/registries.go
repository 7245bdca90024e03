package config

// Registries says from where agents install packages, and which packages they get.
type Registries struct {
	Enabled bool `json:"enabled"`
	// Sources replace what was learned of this machine, ecosystem by ecosystem.
	Sources         []PackageSource `json:"sources,omitempty"`
	QuarantineHours map[string]int  `json:"quarantineHours"` // by ecosystem
	Rules           []PackageRule   `json:"rules,omitempty"` // the first that matches counts
	Malicious       []string        `json:"malicious,omitempty"`
	Audit           string          `json:"audit"`   // "rebuilt" or "off"
	Offline         string          `json:"offline"` // "cache" or "refuse"
	NewNames        int             `json:"newNames"`
	UnknownNames    int             `json:"unknownNames"`
	CacheGB         int             `json:"cacheGb"`
}

// PackageSource is one registry, as config.json or this machine's tools name it.
type PackageSource struct {
	Ecosystem string `json:"ecosystem"` // "npm", "pypi", "go", "cargo" or "apt"
	// URL is the base of its documents, without a login; its path ends with a slash. It is empty
	// for names that belong to no registry: no registry is asked for them.
	URL       string   `json:"url,omitempty"`
	From      string   `json:"from,omitempty"`      // who named it: "npm config get registry"
	Name      string   `json:"name,omitempty"`      // what the tool calls it, where it has names: "acme"
	Suites    []string `json:"suites,omitempty"`    // what apt uses of it, as a sources.list has it: "trixie main contrib"
	Aliases   []string `json:"aliases,omitempty"`   // other bases by which clients know it
	Artifacts []string `json:"artifacts,omitempty"` // bases besides URL at which its artifacts are
	// Scopes are names that belong to this source and to no other: "@acme". A source without any
	// has the names that no other source has.
	Scopes  []string `json:"scopes,omitempty"`
	Private bool     `json:"private,omitempty"` // it belongs to the person or their employer
	// Credential says where the login for it is, and is never the login itself: "npmrc",
	// "netrc", "pip", "uv", "go" or "cargo".
	Credential string `json:"credential,omitempty"`
	// Keys verify its signatures: the key of a checksum database, paths of keyrings.
	Keys []string `json:"keys,omitempty"`
}

// PackageRule decides about packages for which all of its members hold.
type PackageRule struct {
	Ecosystem        string `json:"ecosystem,omitempty"`
	Name             string `json:"name,omitempty"`    // a glob; * stops at /
	Version          string `json:"version,omitempty"` // a glob
	YoungerThanHours int    `json:"youngerThanHours,omitempty"`
	InstallScript    bool   `json:"installScript,omitempty"`
	PublisherChanged bool   `json:"publisherChanged,omitempty"`
	ProvenanceLost   bool   `json:"provenanceLost,omitempty"`
	Confusable       bool   `json:"confusable,omitempty"`
	Then             string `json:"then"` // "allow", "ask" or "deny"
}

// defaultRegistries are the registries without a file.
func defaultRegistries() Registries {
	return Registries{
		Enabled:         true,
		QuarantineHours: map[string]int{"npm": 72, "pypi": 72, "cargo": 72, "go": 72, "apt": 0},
		Audit:           "rebuilt",
		Offline:         "cache",
		NewNames:        200,
		UnknownNames:    50,
		CacheGB:         10,
	}
}
