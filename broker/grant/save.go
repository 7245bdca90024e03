package grant

import (
	"encoding/json"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// saved is a grant with what it lets through, for another process.
type saved struct {
	Grant
	Server, Tool string
	Digest       string            `json:",omitempty"`
	Any          bool              `json:",omitempty"`
	Slots        []savedSlot       `json:",omitempty"`
	Rest         map[string]string `json:",omitempty"`
}

type savedSlot struct {
	Argument       string
	Role           policy.Role
	Texts, Origins []string
	Directory      string
}

// savedStore is a whole store.
type savedStore struct {
	Number int // of the last grant
	Grants []saved
}

// Save returns the grants in force, for Load.
func (s *Store) Save() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	all := savedStore{Number: s.number}
	for _, h := range s.held {
		p := h.pattern
		one := saved{Grant: h.Grant, Server: p.server, Tool: p.tool, Digest: p.digest, Any: p.any, Rest: p.rest}
		for at, a := range p.slots {
			one.Slots = append(one.Slots, savedSlot{at.argument, at.role, a.texts, a.origins, a.directory})
		}
		all.Grants = append(all.Grants, one)
	}
	return json.Marshal(all)
}

// Load puts the grants that Save returned into an empty store. Each ends when it would have.
func (s *Store) Load(data []byte) error {
	var all savedStore
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("load the grants: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number = all.Number
	for _, one := range all.Grants {
		p := pattern{server: one.Server, tool: one.Tool, digest: one.Digest, any: one.Any, rest: one.Rest}
		if len(one.Slots) > 0 {
			p.slots = map[slot]allowed{}
		}
		for _, x := range one.Slots {
			p.slots[slot{x.Argument, x.Role}] = allowed{x.Texts, x.Origins, x.Directory}
		}
		s.held = append(s.held, &held{Grant: one.Grant, pattern: p})
	}
	return nil
}
