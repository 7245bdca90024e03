package packages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Overview is what came of one agent's way to the registries, for its person.
type Overview struct {
	Registries []Registry `json:"registries"`
	// Delivered counts artifacts, Waiting those that wait for the person.
	Delivered int `json:"delivered"`
	Waiting   int `json:"waiting"`
	// Hidden are the packages with versions that the agent does not see, by ecosystem and name.
	Hidden []Hidden `json:"hidden,omitempty"`
	// Refused are the newest requests that were refused, the newest first; RefusedAll counts all.
	Refused    []Refused `json:"refused,omitempty"`
	RefusedAll int       `json:"refusedAll"`
	// Denied are versions that the person has denied, as "npm:left@2.1.0": what Release takes.
	Denied []string `json:"denied,omitempty"`
}

// Registry is one of the registries that the agent reaches.
type Registry struct {
	Ecosystem string   `json:"ecosystem"`
	URL       string   `json:"url"`
	From      string   `json:"from,omitempty"` // who named it
	Aliases   []string `json:"aliases,omitempty"`
	Scopes    []string `json:"scopes,omitempty"`
	Private   bool     `json:"private,omitempty"`
}

// Hidden says how many versions of a package the agent does not see.
type Hidden struct {
	Ecosystem string `json:"ecosystem"`
	Name      string `json:"name"`
	Versions  int    `json:"versions"`
}

// Refused is a request that was refused.
type Refused struct {
	Ecosystem string `json:"ecosystem"`
	Package   string `json:"package"` // "left@2.1.0", or the path of what is no package
	Why       string `json:"why"`
}

// Bounds of what a session keeps for its Overview.
const (
	mostRefused = 20
	mostHidden  = 1000 // packages
)

// overview counts the records of one session.
type overview struct {
	delivered, refusedAll int
	refused               []Refused // the newest last
	hidden                map[Hidden]int
}

// add counts a record.
func (o *overview) add(r *registry.Record) {
	switch {
	case r.Decision == "deny" || r.Decision == "error":
		what := r.Path
		if r.Name != "" {
			what = strings.TrimSuffix(r.Name+"@"+r.Version, "@")
		}
		o.refusedAll++
		o.refused = append(o.refused, Refused{r.Ecosystem, what, r.Text})
		o.refused = o.refused[max(0, len(o.refused)-mostRefused):]
	case r.What == "artifact" && r.Decision == "allow" && r.Digest != "": // without one, its name leaves
		o.delivered++
	case r.What == "document" && r.Decision == "done":
		key := Hidden{Ecosystem: r.Ecosystem, Name: r.Name}
		if delete(o.hidden, key); r.Hidden > 0 && len(o.hidden) < mostHidden {
			o.hidden[key] = r.Hidden
		}
	}
}

// Overview tells what came of the session so far.
func (s *Session) Overview() Overview {
	all := Overview{Waiting: s.way.Waiting()}
	for _, o := range s.host.Origins() {
		r := Registry{Ecosystem: o.Ecosystem, URL: o.URL.String(), From: o.From, Scopes: o.Scopes, Private: o.Private}
		for _, alias := range o.Aliases {
			r.Aliases = append(r.Aliases, alias.String())
		}
		all.Registries = append(all.Registries, r)
	}
	for _, d := range s.way.Denied() {
		all.Denied = append(all.Denied, d.Ecosystem+":"+d.Name+"@"+d.Version)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all.Delivered, all.RefusedAll = s.seen.delivered, s.seen.refusedAll
	all.Refused = slices.Clone(s.seen.refused)
	slices.Reverse(all.Refused)
	for h, versions := range s.seen.hidden {
		h.Versions = versions
		all.Hidden = append(all.Hidden, h)
	}
	slices.SortFunc(all.Hidden, func(a, b Hidden) int {
		return cmp.Or(strings.Compare(a.Ecosystem, b.Ecosystem), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Release forgets that the person has denied a version, as Overview.Denied names it. The agent's
// next request for it is a new question.
func (s *Session) Release(version string) error {
	for _, d := range s.way.Denied() {
		if d.Ecosystem+":"+d.Name+"@"+d.Version == version {
			s.way.Release(d)
			return nil
		}
	}
	return fault.New("/registries lists what was denied", "release %s: it was not denied in this session", version)
}
