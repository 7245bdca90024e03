// Package seen is what a container says of itself before anything of an agent runs in it,
// and the judgement whether that is what was ordered.
//
// An engine is asked for a container without a network, without capabilities and so on. An
// old engine, a wrapper or a virtual machine can leave some of that out without a word. So
// our program in the container looks around, from inside, where it needs no privilege for
// it; its report goes to the host, and the host lets the agent start only when the isolation
// is whole (Judge). Limits that differ are told to the person.
//
// At that time nothing but our own program has run in the container, so nothing could have
// changed the report. A report of a later time proves nothing.
package seen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
)

// Version is the version of the report that Parse takes.
const Version = 1

// MaxSize is how many bytes a report may have.
const MaxSize = 64 << 10

// Seen is the report.
type Seen struct {
	Version int `json:"version"`

	UIDMap []Range `json:"uidMap"` // as the kernel tells them
	GIDMap []Range `json:"gidMap"`
	UIDs   [4]int  `json:"uids"` // real, effective, saved, of the file system
	GIDs   [4]int  `json:"gids"`
	Groups []int   `json:"groups"` // supplementary ones

	Capabilities Capabilities `json:"capabilities"`
	NoNewPrivs   bool         `json:"noNewPrivs"`
	Seccomp      int          `json:"seccomp"` // the mode, as the kernel counts them: 2 is a filter

	Interfaces   []Interface `json:"interfaces"`
	RootReadOnly bool        `json:"rootReadOnly"`

	MemoryMax int64   `json:"memoryMax"` // bytes; Unlimited and Unknown too
	PidsMax   int64   `json:"pidsMax"`   // processes and threads; Unlimited and Unknown too
	CPUMax    float64 `json:"cpuMax"`    // processors; Unlimited and Unknown too

	Architecture string  `json:"architecture"` // as Go names it: amd64, arm64
	Tokens       []Token `json:"tokens"`
}

// What stands in place of a limit.
const (
	Unlimited = 0
	Unknown   = -1
)

// Range is a line of a map of user or group numbers: Count numbers from Inside on are those
// from Outside on in the namespace above.
type Range struct {
	Inside  int64 `json:"inside"`
	Outside int64 `json:"outside"`
	Count   int64 `json:"count"`
}

// Capabilities are the sets of a process, a bit for each capability.
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

// Token is a file that our program has written in a directory that the host is to see as
// well. The host looks for it on its side: engines have mounted empty directories in silence.
// It is removed before the agent starts.
type Token struct {
	Place   string `json:"place"` // the directory in the container
	Name    string `json:"name"`
	Content string `json:"content"`
	Failed  string `json:"failed"` // why it was not written; empty: it was
}

// tokenName and tokenContent are what a token has. The name can be joined to a path.
var (
	tokenName    = regexp.MustCompile(`^\.ironcurtain-[0-9a-f]{32}$`)
	tokenContent = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// TokenName is the name of the token with a random part of 32 hexadecimal digits.
func TokenName(random string) string { return ".ironcurtain-" + random }

// Bytes is the report as it is sent.
func (s Seen) Bytes() ([]byte, error) {
	data, err := json.Marshal(s)
	if err == nil && len(data) > MaxSize {
		err = fmt.Errorf("it has %d bytes, and may have %d", len(data), MaxSize)
	}
	if err != nil {
		return nil, fmt.Errorf("say what is seen in the container: %w", err)
	}
	return data, nil
}

// Parse reads a report. It takes exactly what Bytes makes: every member once, no other, in
// order. So what is missing is never taken for a zero.
func Parse(data []byte) (Seen, error) {
	const op = "read what is seen in the container"
	if len(data) > MaxSize {
		return Seen{}, fmt.Errorf(op+": it has %d bytes, and may have %d", len(data), MaxSize)
	}
	var s Seen
	if err := json.Unmarshal(data, &s); err != nil {
		return Seen{}, fmt.Errorf(op+": %w", err)
	}
	if s.Version != Version {
		return Seen{}, fmt.Errorf(op+": its version is %d, and %d is understood", s.Version, Version)
	}
	again, err := json.Marshal(s)
	if err != nil {
		return Seen{}, fmt.Errorf(op+": %w", err)
	}
	if !bytes.Equal(again, data) {
		return Seen{}, fmt.Errorf(op + ": it is not written as our program writes it")
	}
	for _, t := range s.Tokens {
		if t.Failed == "" && (!tokenName.MatchString(t.Name) || !tokenContent.MatchString(t.Content)) {
			return Seen{}, fmt.Errorf(op+": %q is no name or content of a token", t.Name)
		}
	}
	return s, nil
}

// Outside is the number that a user of the container has in the namespace above. ok is false
// for one that has none.
func (s Seen) Outside(uid int) (outside int64, ok bool) { return translate(s.UIDMap, uid) }

// most is more than any number of a user or group.
const most = 1 << 32

// translate looks a number up. It passes over a line that no kernel writes.
func translate(ranges []Range, id int) (outside int64, ok bool) {
	for _, r := range ranges {
		valid := min(r.Inside, r.Outside, r.Count) >= 0 && max(r.Inside, r.Outside, r.Count) <= most
		if n := int64(id) - r.Inside; valid && n >= 0 && n < r.Count {
			return r.Outside + n, true
		}
	}
	return 0, false
}
