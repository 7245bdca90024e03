package registry

import (
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Facts are what a registry says about one package.
type Facts struct {
	Name     string
	Document *Document // for the agent; may be one of several that were read
	Versions []Version // each version once, in the order of the document
	// Tags are names for versions, such as "latest".
	Tags map[string]string
	// State is the ecosystem's parsed document, for Write.
	State any

	mu      sync.Mutex
	written *written // the document as it was last written; facts belong to one path and form
	history *History
}

// History tells when things about a package were first seen in one of its versions.
type History struct {
	First      time.Time            // the earliest known publication; zero if there is none
	Publishers map[string]time.Time // when each published a version first
	Told       *time.Time           // when the first version with a publisher was published
	Provenance *time.Time           // when the first version with a proof of where it was built was
}

// History returns the history of all versions. It is computed once, because many versions are
// judged by it.
func (f *Facts) History() *History {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.history != nil {
		return f.history
	}
	h := &History{Publishers: make(map[string]time.Time)}
	for i := range f.Versions {
		v := &f.Versions[i]
		at := v.Published
		if !at.IsZero() && (h.First.IsZero() || at.Before(h.First)) {
			h.First = at
		}
		if by := v.Publisher; by != "" {
			if first, is := h.Publishers[by]; !is || at.Before(first) {
				h.Publishers[by] = at
			}
			h.Told = earlier(h.Told, at)
		}
		if v.Provenance == Yes {
			h.Provenance = earlier(h.Provenance, at)
		}
	}
	f.history = h
	return h
}

func earlier(a *time.Time, b time.Time) *time.Time {
	if a != nil && !b.Before(*a) {
		return a
	}
	return &b
}

// Version returns the version of that name, or nil.
func (f *Facts) Version(name string) *Version {
	for i := range f.Versions {
		if f.Versions[i].Version == name {
			return &f.Versions[i]
		}
	}
	return nil
}

// File returns the artifact at an address and its version, or nil.
func (f *Facts) File(address string) (*Version, *File) {
	for i := range f.Versions {
		for j := range f.Versions[i].Files {
			if f.Versions[i].Files[j].URL == address {
				return &f.Versions[i], &f.Versions[i].Files[j]
			}
		}
	}
	return nil, nil
}

// Version is what a registry says about one version.
type Version struct {
	Version string
	// Published is when the registry says that it was published; zero if unknown.
	Published time.Time
	// Proof says what the age is based on, if not on the registry's word: "record 1234 of the
	// checksum database". It is shown to people.
	Proof string
	Files []File
	// Publisher is who published it; empty if unknown. Provenance says whether there is a proof
	// of where it was built.
	Publisher  string
	Provenance Told
	Scripts    []string // that run at install, according to the document: "postinstall"
	Needs      []string // the names of the packages that it depends on
	Prerelease bool
	Withdrawn  bool // yanked or deprecated: never offered as the newest one that is old enough
}

// ParseTime reads when a version was published. It returns zero for a malformed time, and for one
// from before such registries existed, because some registries write the start of their clock when
// they do not know the time.
func ParseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 2000 {
		return time.Time{}
	}
	return t
}

// Told is a registry's answer to a question that it may leave open.
type Told int

// The values of Told.
const (
	NotTold Told = iota
	No
	Yes
)

// File is one artifact.
type File struct {
	URL     string // absolute, as agents know it
	Digests []Digest
	Size    int64 // in bytes; 0 if unknown
	// Weak means that only SHA-1 or MD5 digests are listed.
	Weak bool
	// Of is the URL of the artifact that the file belongs to, such as the wheel whose
	// metadata it is; empty for an artifact. Both wait for a person together.
	Of string
}

// Digest is a listed digest.
type Digest struct {
	Algorithm string // "sha512", "sha384", "sha256", "sha1", "md5", "h1"
	Sum       []byte // for "h1" the whole text
}

// Inspection is what was found in an artifact.
type Inspection struct {
	Scripts []string // what runs at install: "postinstall: node setup.js"
	Files   []string // names; AddFile keeps the first ones
	// Needs are the packages that it depends on, if only the artifact tells them; at most
	// 1000. A version may be empty.
	Needs []Pin `json:",omitempty"`
}

// Limits of what is kept about an artifact: the number of names, and the bytes of each text.
const (
	mostFound    = 1000
	longestFound = 1000
)

// AddFile adds the name of a file.
func (i *Inspection) AddFile(name string) {
	if len(i.Files) < mostFound {
		i.Files = append(i.Files, text.Clip(name, longestFound))
	}
}

// AddScript adds a script that runs at install. Beyond a limit, scripts are dropped.
func (i *Inspection) AddScript(script string) {
	if len(i.Scripts) < mostFound {
		i.Scripts = append(i.Scripts, text.Clip(script, longestFound))
	}
}
