package packs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// state is what is known of a volume.
type state struct {
	Version    int              `json:"version"`
	Repository string           `json:"repository"`
	Volume     string           `json:"volume,omitempty"`
	Limit      int64            `json:"limit"`          // the smallest limit because of which something was left out
	Own        []string         `json:"own,omitempty"`  // commits at which the repository's own history ends
	Cut        []string         `json:"cut,omitempty"`  // commits at which history ends, Own included
	Tips       []string         `json:"tips"`           // the packs have all that these lead to, up to Cut
	Left       []string         `json:"left,omitempty"` // tips that were too large
	Packs      map[string]int64 `json:"packs"`          // file in the volume → size in bytes
}

// version of the file. A file of another version is ignored, and everything is sent again.
const version = 1

// Limits of the file. Of too many tips the oldest are dropped, and what only they lead to is sent again.
const (
	maxTips  = 200_000
	maxState = 64 << 20 // bytes
)

// readState reads what was sent before. The result is empty if there is no such file, if the volume
// lacks one of the packs, and if more of the history can be sent now.
func readState(p Plan, shallow []string, has func(name string, size int64) bool) state {
	var m state
	f, err := os.Open(p.State)
	if err != nil {
		return state{}
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, maxState)).Decode(&m) != nil || !m.valid(p, shallow, has) {
		return state{}
	}
	return m
}

func (m state) valid(p Plan, shallow []string, has func(name string, size int64) bool) bool {
	if m.Version != version || m.Repository != p.Repository || m.Volume != p.Volume {
		return false
	}
	for name, size := range m.Packs {
		if !has(name, size) {
			return false
		}
	}
	for _, ids := range [][]string{m.Tips, m.Cut, m.Left} {
		for _, id := range ids {
			if !objectID.MatchString(id) || len(id) != len(p.Tips[0]) {
				return false // the repository was made anew, or the file is damaged
			}
		}
	}
	ends := set(shallow)
	deeper := slices.ContainsFunc(m.Own, func(id string) bool { return !ends[id] })
	return !deeper && !(m.incomplete() && p.Limit > m.Limit)
}

// incomplete reports whether something was left out.
func (m state) incomplete() bool { return len(m.Cut) > len(m.Own) || len(m.Left) > 0 }

// state returns what is known of the volume once it has the new packs.
func (j *job) state(made []file) state {
	packs := map[string]int64{}
	maps.Copy(packs, j.known.Packs)
	for _, f := range made {
		packs[f.name] = f.size
	}
	tips := slices.Concat(j.sent(), j.have)
	complete := set(tips)
	left := slices.DeleteFunc(union(j.known.Left, j.left), func(id string) bool { return complete[id] })
	limit := j.plan.Limit
	if j.known.incomplete() {
		limit = min(limit, j.known.Limit)
	}
	return state{
		Version: version, Repository: j.plan.Repository, Volume: j.plan.Volume, Limit: limit,
		Own: j.shallow, Cut: j.cut, Tips: tips[:min(len(tips), maxTips)], Left: left[:min(len(left), maxTips)], Packs: packs,
	}
}

// set returns the strings as a set.
func set(all []string) map[string]bool {
	s := make(map[string]bool, len(all))
	for _, one := range all {
		s[one] = true
	}
	return s
}

func (m state) write(path string) error {
	data, err := json.Marshal(m)
	if err == nil {
		err = wholefile.Write(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember what was sent: %w", err)
	}
	return nil
}
