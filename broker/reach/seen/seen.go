// Package seen is the report of a container about its own confinement, and the judgment whether
// that is as ordered.
//
// The engine is asked for a container without a network, without capabilities and so on. An old
// engine, a wrapper or a virtual machine can ignore some of that silently. So before anything of an
// agent runs, the bridge examines the container from inside, which needs no privileges, and reports
// to the host. The host lets the agent start only if the isolation is complete (Judge). Limits that
// differ are told to the person.
//
// Until then nothing but the bridge has run in the container, so nothing could have changed the
// report. A later report would prove nothing.
package seen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// Version is the version of the report.
const Version = 1

// MaxSize is how many bytes a report may have.
const MaxSize = 64 << 10

// Seen is the report.
type Seen struct {
	Version int `json:"version"`

	UIDMap []Range `json:"uidMap"` // of the user namespace
	GIDMap []Range `json:"gidMap"`
	UIDs   [4]int  `json:"uids"` // real, effective, saved, of the file system
	GIDs   [4]int  `json:"gids"`
	Groups []int   `json:"groups"` // supplementary ones

	Capabilities Capabilities `json:"capabilities"`
	NoNewPrivs   bool         `json:"noNewPrivs"`
	Seccomp      int          `json:"seccomp"` // the kernel's number of the mode: 2 is a filter

	Interfaces   []Interface `json:"interfaces"`
	RootReadOnly bool        `json:"rootReadOnly"`

	MemoryMax int64   `json:"memoryMax"` // bytes; or Unlimited or Unknown
	PidsMax   int64   `json:"pidsMax"`   // processes and threads; or Unlimited or Unknown
	CPUMax    float64 `json:"cpuMax"`    // processors; or Unlimited or Unknown

	Architecture string  `json:"architecture"` // as Go names it: amd64, arm64
	Tokens       []Token `json:"tokens"`
}

// Values in place of a limit.
const (
	Unlimited = 0
	Unknown   = -1
)

// Range is a line of a map of user or group numbers: Count numbers from Inside on are the numbers
// from Outside on in the parent namespace.
type Range struct {
	Inside  int64 `json:"inside"`
	Outside int64 `json:"outside"`
	Count   int64 `json:"count"`
}

// Capabilities are the capability sets of a process, with a bit for each capability.
type Capabilities struct {
	Effective   uint64 `json:"effective"`
	Permitted   uint64 `json:"permitted"`
	Bounding    uint64 `json:"bounding"`
	Ambient     uint64 `json:"ambient"`
	Inheritable uint64 `json:"inheritable"`
}

// Interface is a network interface.
type Interface struct {
	Name      string   `json:"name"`
	Loopback  bool     `json:"loopback"`
	Up        bool     `json:"up"`
	Addresses []string `json:"addresses"` // with the lengths of their networks
}

// Token is a file that the bridge has written in a directory that the host shares. The host looks
// for it on its side, because some engines silently mount an empty directory instead. It is removed
// before the agent starts.
type Token struct {
	Place   string `json:"place"` // the directory in the container
	Name    string `json:"name"`
	Content string `json:"content"`
	Failed  string `json:"failed"` // why it could not be written; empty: it was
}

// tokenName and tokenContent match those of a token. The name is safe to join to a path.
var (
	tokenName    = regexp.MustCompile(`^\.ironcurtain-[0-9a-f]{32}$`)
	tokenContent = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// TokenName is the name of the token with a random part of 32 hexadecimal digits.
func TokenName(random string) string { return ".ironcurtain-" + random }

// Bytes encodes the report.
func (s Seen) Bytes() ([]byte, error) {
	data, err := json.Marshal(s)
	if err == nil && len(data) > MaxSize {
		err = fmt.Errorf("it has %d bytes, and the limit is %d", len(data), MaxSize)
	}
	if err != nil {
		return nil, fmt.Errorf("write the container's report: %w", err)
	}
	return data, nil
}

// Parse reads a report. It accepts exactly what Bytes writes: every member once, no other, in order.
// So a missing member is never taken for zero.
func Parse(data []byte) (Seen, error) {
	const op = "read the container's report"
	if len(data) > MaxSize {
		return Seen{}, fmt.Errorf(op+": it has %d bytes, and the limit is %d", len(data), MaxSize)
	}
	var s Seen
	if err := json.Unmarshal(data, &s); err != nil {
		return Seen{}, fmt.Errorf(op+": %w", err)
	}
	if s.Version != Version {
		return Seen{}, fmt.Errorf(op+": its version is %d, not %d", s.Version, Version)
	}
	again, err := json.Marshal(s)
	if err != nil {
		return Seen{}, fmt.Errorf(op+": %w", err)
	}
	if !bytes.Equal(again, data) {
		return Seen{}, fmt.Errorf(op + ": it is not what the bridge writes")
	}
	for _, t := range s.Tokens {
		if t.Failed == "" && (!tokenName.MatchString(t.Name) || !tokenContent.MatchString(t.Content)) {
			return Seen{}, fmt.Errorf(op+": %q is a malformed token", t.Name)
		}
	}
	return s, nil
}

// Outside is the number that a user of the container has in the parent namespace. ok is false if it
// has none.
func (s Seen) Outside(uid int) (outside int64, ok bool) { return translate(s.UIDMap, uid) }

// maxID is larger than any number of a user or group.
const maxID = 1 << 32

// translate looks a number up. It ignores lines that no kernel writes.
func translate(ranges []Range, id int) (outside int64, ok bool) {
	for _, r := range ranges {
		valid := min(r.Inside, r.Outside, r.Count) >= 0 && max(r.Inside, r.Outside, r.Count) <= maxID
		if n := int64(id) - r.Inside; valid && n >= 0 && n < r.Count {
			return r.Outside + n, true
		}
	}
	return 0, false
}
