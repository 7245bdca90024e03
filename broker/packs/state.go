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

// memory is what is known of a volume.
type memory struct {
	Version    int              `json:"version"`
	Repository string           `json:"repository"`
	Volume     string           `json:"volume,omitempty"`
	Limit      int64            `json:"limit"` // the least under which something was left out
	Own        []string         `json:"own,omitempty"`
	Cut        []string         `json:"cut,omitempty"`  // commits at which history ends, Own included
	Tips       []string         `json:"tips"`           // the packs have all that these lead to, up to Cut
	Left       []string         `json:"left,omitempty"` // tips that were too large
	Packs      map[string]int64 `json:"packs"`          // file in the volume → size in bytes
}

// version of the file. Another one is forgotten: what it knows is sent again.
const version = 1

// Bounds of the file. Of too many tips the oldest are forgotten, and what only they lead to is sent again.
const (
	maxTips   = 200_000
	maxMemory = 64 << 20 // bytes
)

// remembered reads what was sent before. It is nothing when there is no such file, when the
// volume lacks one of the packs, and when more of the history can be sent now than then.
func remembered(p Plan, own []string, has func(name string, size int64) bool) memory {
	var m memory
	f, err := os.Open(p.State)
	if err != nil {
		return memory{}
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, maxMemory)).Decode(&m) != nil || !m.holds(p, own, has) {
		return memory{}
	}
	return m
}

func (m memory) holds(p Plan, own []string, has func(name string, size int64) bool) bool {
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
				return false // the repository was made anew, or the file is not ours
			}
		}
	}
	ends := set(own)
	deeper := slices.ContainsFunc(m.Own, func(id string) bool { return !ends[id] })
	return !deeper && !(m.incomplete() && p.Limit > m.Limit)
}

// incomplete reports whether something was left out.
func (m memory) incomplete() bool { return len(m.Cut) > len(m.Own) || len(m.Left) > 0 }

// memory is what is known of the volume when it has what the job has made, too.
func (j *job) memory(made []file) memory {
	packs := map[string]int64{}
	maps.Copy(packs, j.known.Packs)
	for _, f := range made {
		packs[f.name] = f.size
	}
	tips := slices.Concat(j.sent(), j.had)
	complete := set(tips)
	left := slices.DeleteFunc(union(j.known.Left, j.left), func(id string) bool { return complete[id] })
	limit := j.plan.Limit
	if j.known.incomplete() {
		limit = min(limit, j.known.Limit)
	}
	return memory{
		Version: version, Repository: j.plan.Repository, Volume: j.plan.Volume, Limit: limit,
		Own: j.own, Cut: j.cut, Tips: tips[:min(len(tips), maxTips)], Left: left[:min(len(left), maxTips)], Packs: packs,
	}
}

// set is the strings, for looking them up.
func set(all []string) map[string]bool {
	s := make(map[string]bool, len(all))
	for _, one := range all {
		s[one] = true
	}
	return s
}

func (m memory) write(path string) error {
	data, err := json.Marshal(m)
	if err == nil {
		err = wholefile.Write(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember what was sent: %w", err)
	}
	return nil
}
