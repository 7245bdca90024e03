package main

import (
	"slices"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// maxArrangements is how many clients' arrangements are kept.
const maxArrangements = 64

// arrangements are how views had arranged their tabs when they ended.
type arrangements struct {
	mu   sync.Mutex
	kept []arranged // the newest last
}

// arranged is what a view had whose client the person calls Name; empty: it has no name.
type arranged struct {
	Name string
	tui.Arrangement
}

// nameOf returns the name that the person has given a client; empty: none.
func nameOf(c daemon.Client) string {
	if c.Named {
		return c.Identity.Name
	}
	return ""
}

// of returns the arrangement of a client: that of its name, else the newest.
func (a *arrangements) of(c daemon.Client) tui.Arrangement {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) == 0 {
		return tui.Arrangement{}
	}
	name := nameOf(c)
	at := slices.IndexFunc(a.kept, func(k arranged) bool { return name != "" && k.Name == name })
	if at < 0 {
		at = len(a.kept) - 1
	}
	return a.kept[at].Arrangement
}

// newest returns the arrangement of the client whose view ended last.
func (a *arrangements) newest() tui.Arrangement { return a.of(daemon.Client{}) }

// keep keeps the arrangement of a client, in place of a former one of its name.
func (a *arrangements) keep(c daemon.Client, now tui.Arrangement) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := nameOf(c)
	a.kept = append(slices.DeleteFunc(a.kept, func(k arranged) bool { return k.Name == name }), arranged{name, now})
	if len(a.kept) > maxArrangements {
		a.kept = a.kept[1:]
	}
}

// all returns what is kept.
func (a *arrangements) all() []arranged {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.kept)
}
