package mitm

import (
	"slices"
	"sync"
	"sync/atomic"
)

// given are the credentials that the agent must never see. All of them are looked for in
// every answer, because a server may send back a credential of an earlier request.
type given struct {
	mu  sync.Mutex
	all atomic.Pointer[[]Credential] // the newest is the last; never changed in place
}

// mostGiven is how many credentials are remembered. Logins often get new ones, and the
// old ones expire.
const mostGiven = 16

// list returns all credentials. It must not be changed.
func (g *given) list() []Credential {
	if all := g.all.Load(); all != nil {
		return *all
	}
	return nil
}

// add remembers a credential.
func (g *given) add(c Credential) {
	if !sendable(c.Value) || slices.Contains(g.list(), c) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := append(slices.Clone(g.list()), c)
	all = all[max(0, len(all)-mostGiven):]
	g.all.Store(&all)
}
