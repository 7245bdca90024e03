package grant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// saved is a grant with its pattern, as it is stored.
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
	return s.encode(func(*held) bool { return true })
}

// encode returns some grants in JSON.
func (s *Store) encode(which func(*held) bool) ([]byte, error) {
	all := savedStore{Number: s.number}
	for _, h := range s.held {
		if !which(h) {
			continue
		}
		p := h.pattern
		one := saved{Grant: h.Grant, Server: p.server, Tool: p.tool, Digest: p.digest, Any: p.any, Rest: p.rest}
		for at, a := range p.slots {
			one.Slots = append(one.Slots, savedSlot{at.argument, at.role, a.texts, a.origins, a.directory})
		}
		all.Grants = append(all.Grants, one)
	}
	return json.Marshal(all)
}

// decode returns the grants that encode has written.
func decode(data []byte) (number int, grants []*held, err error) {
	var all savedStore
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields() // an unknown field could narrow a grant
	if err := d.Decode(&all); err != nil {
		return 0, nil, fmt.Errorf("load the grants: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return 0, nil, errors.New("load the grants: more data follows them")
	}
	for _, one := range all.Grants {
		p := pattern{server: one.Server, tool: one.Tool, digest: one.Digest, any: one.Any, rest: one.Rest}
		if len(one.Slots) > 0 {
			p.slots = map[slot]allowed{}
		}
		for _, x := range one.Slots {
			p.slots[slot{x.Argument, x.Role}] = allowed{x.Texts, x.Origins, x.Directory}
		}
		grants = append(grants, &held{Grant: one.Grant, pattern: p})
	}
	return all.Number, grants, nil
}

// Load puts the grants that Save returned into an empty store. Each ends at the same time as
// before.
func (s *Store) Load(data []byte) error {
	number, grants, err := decode(data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number, s.held = number, append(s.held, grants...)
	return nil
}

// KeepIn stores the grants of each session in a file, for Restore after this process was killed.
// The file is removed with the last grant. It is written when a session gets or loses a grant, so
// the uses since then are not counted in it.
func (s *Store) KeepIn(file func(session string) string) { s.file = file }

// keep stores the grants of a session in its file. If it cannot, it removes the file. An error
// means that the file may still have grants that have ended.
func (s *Store) keep(session string) error {
	if s.file == nil {
		return nil
	}
	path := s.file(session)
	if s.countLocked(session) > 0 {
		data, err := s.encode(func(h *held) bool { return h.Session == session })
		if err == nil && wholefile.Write(path, data, 0o600) == nil {
			return nil
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mostNumber bounds the number of a grant that comes from a file.
const mostNumber = 1 << 30

// Restore puts the stored grants of a session in force again, whose life continues although its
// process was killed. Each ends at the same time as before. It returns those that are in force.
func (s *Store) Restore(session string) ([]Grant, error) {
	if s.file == nil {
		return nil, nil
	}
	data, err := os.ReadFile(s.file(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var grants []*held
	if err == nil {
		_, grants, err = decode(data)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return nil, errors.Join(err, s.keep(session))
	}
	var restored []Grant
	for _, h := range grants {
		if h.Session != session || h.Number < 1 || h.Number > mostNumber || Check(h.ExpiresAt.Sub(h.At)) != nil ||
			h.overdue(s.now()) || s.countLocked(session) >= maxGrants {
			continue
		}
		if s.find(h.Number) != nil { // another session has got a grant of that number meanwhile
			h.Number = s.number + 1
		}
		s.number = max(s.number, h.Number)
		s.held = append(s.held, h)
		restored = append(restored, h.Grant)
	}
	return restored, s.keep(session)
}
