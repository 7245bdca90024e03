package apt

import (
	"bytes"
	"encoding/hex"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	// maxRelease bounds a Release, in bytes; maxEntries bounds its list.
	maxRelease = 16 << 20
	maxEntries = 200_000
	// maxAhead is how far in the future a Release may be dated.
	maxAhead = time.Hour
)

// release is a verified Release.
type release struct {
	dist       string
	date       time.Time
	validUntil time.Time // zero if there is none
	byHash     bool      // indexes can also be requested by their hashes
	entries    map[string]entry
	hashes     map[string]string // paths by directory and hash: "main/binary-amd64/HEX"
}

// entry is what a Release says about an index.
type entry struct {
	size   int64
	sha256 string // in hex
}

// releaseFields are the fields of a Release that are read.
var releaseFields = []string{"Suite", "Codename", "Date", "Valid-Until", "Acquire-By-Hash", "SHA256", "SHA512"}

// parseRelease reads the signed text of a distribution's Release.
func parseRelease(dist string, text []byte) (*release, error) {
	broken := func(why string) error {
		return registry.Refuse(502, registry.ReasonDocument, "the Release of %s cannot be accepted: %s", dist, why)
	}
	var fields stanza
	err := stanzas(bytes.NewReader(text), releaseFields, func(s stanza) error {
		if fields != nil {
			return errFormat
		}
		fields = append(stanza{}, s...)
		return nil
	})
	if err != nil || fields == nil {
		return nil, broken("it cannot be read")
	}
	if !named(dist, fields[0], fields[1]) {
		return nil, broken("it is about another distribution")
	}
	r := &release{dist: dist, byHash: fields[4] == "yes", entries: map[string]entry{}, hashes: map[string]string{}}
	if r.date, err = parseDate(fields[2]); err != nil {
		return nil, broken("it has no date")
	}
	if fields[3] != "" {
		if r.validUntil, err = parseDate(fields[3]); err != nil {
			return nil, broken("its Valid-Until cannot be read")
		}
	}
	if !r.list(fields[5]) || len(r.entries) == 0 {
		return nil, broken("its list of SHA-256 hashes cannot be read")
	}
	if !r.listLong(fields[6]) {
		return nil, broken("its list of SHA-512 hashes cannot be read")
	}
	return r, nil
}

// named reports whether a Release is about the requested distribution. An old form has "/updates"
// after the name. A repository with only one distribution names none.
func named(dist, suite, codename string) bool {
	short := strings.TrimSuffix(dist, "/updates")
	if suite == "" && codename == "" {
		return true
	}
	for _, name := range []string{suite, codename} {
		if name != "" && (name == dist || name == short || strings.TrimSuffix(name, "/updates") == short) {
			return true
		}
	}
	return false
}

// parseDate reads a date of a Release, which is in universal time.
func parseDate(text string) (time.Time, error) {
	var err error
	for _, layout := range []string{"Mon, _2 Jan 2006 15:04:05 UTC", "Mon, _2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 2006 15:04:05 +0000", "Mon, _2 Jan 2006 15:04:05 Z"} {
		var t time.Time
		if t, err = time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, err
}

// list reads lines with a hash, a size and a path.
func (r *release) list(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			continue
		}
		sum, name, size, ok := listed(line, 32)
		if _, twice := r.entries[name]; !ok || twice || len(r.entries) >= maxEntries {
			return false
		}
		if !plain(name) {
			continue // it cannot be requested
		}
		r.entries[name] = entry{size: size, sha256: sum}
		r.hashes[path.Join(path.Dir(name), sum)] = name
	}
	return true
}

// listLong reads such lines with SHA-512 hashes, by which indexes can be requested as well.
func (r *release) listLong(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			continue
		}
		sum, name, size, ok := listed(line, 64)
		if !ok {
			return false
		}
		if e, known := r.entries[name]; known && e.size == size {
			r.hashes[path.Join(path.Dir(name), sum)] = name
		}
	}
	return true
}

// listed reads one line with a hash of the given length in bytes, a size and a path.
func listed(line string, bytes int) (sum, name string, size int64, ok bool) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return "", "", 0, false
	}
	raw, err := hex.DecodeString(words[0])
	size, sizeErr := strconv.ParseInt(words[1], 10, 64)
	ok = err == nil && sizeErr == nil && len(raw) == bytes && size >= 0
	return hex.EncodeToString(raw), words[2], size, ok
}

// current returns an error if a Release cannot be used at a time, because it has expired or is
// dated in the future.
func (r *release) current(now time.Time) error {
	if !r.validUntil.IsZero() && now.After(r.validUntil) {
		return registry.Refuse(502, registry.ReasonDocument,
			"the Release of %s was valid until %s: the mirror is out of date; wait, or ask the person to configure another one", r.dist, r.validUntil.Format(time.DateOnly))
	}
	if r.date.After(now.Add(maxAhead)) {
		return registry.Refuse(502, registry.ReasonDocument,
			"the Release of %s is dated %s, which is in the future; ask the person to check this machine's clock", r.dist, r.date.Format(time.DateTime))
	}
	return nil
}
