package packages

import (
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Overview summarizes one agent's use of the registries for the person.
type Overview struct {
	Registries []Registry `json:"registries"`
	// Delivered counts the artifacts that the agent got, Waiting those that wait for the person.
	Delivered int `json:"delivered"`
	Waiting   int `json:"waiting"`
	// Hidden are the packages with versions that the agent does not see, by ecosystem and name.
	Hidden []Hidden `json:"hidden,omitempty"`
	// Refused are the newest requests that were refused or failed, the newest first; RefusedAll
	// counts all of them.
	Refused    []Refused `json:"refused,omitempty"`
	RefusedAll int       `json:"refusedAll"`
	// Denied are versions that the person has denied, written for Release: "npm:left@2.1.0".
	Denied []string `json:"denied,omitempty"`
}

// Registry is one of the registries that the agent reaches.
type Registry struct {
	Ecosystem string   `json:"ecosystem"`
	URL       string   `json:"url"`
	From      string   `json:"from,omitempty"` // what named it
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

// Refused is a request that was refused, or that failed.
type Refused struct {
	Ecosystem string `json:"ecosystem"`
	Package   string `json:"package"` // "left@2.1.0", or a path if it is not about a package
	Why       string `json:"why"`
}

// Limits of what a session keeps for its Overview.
const (
	mostRefused = 20
	mostHidden  = 1000 // packages
)

// overview counts the records of one session.
type overview struct {
	delivered, refusedAll int
	refused               []Refused         // the newest last
	hidden                map[string]Hidden // by key
}

// add counts a record.
func (o *overview) add(r *registry.Record) {
	switch {
	case r.Reason == registry.ReasonGone: // the client did not wait for its answer
	case r.Decision == "deny" || r.Decision == "error":
		what := r.Path
		if r.Name != "" {
			what = strings.TrimSuffix(r.Name+"@"+r.Version, "@")
		}
		o.refusedAll++
		o.refused = append(o.refused, Refused{r.Ecosystem, what, r.Text})
		o.refused = o.refused[max(0, len(o.refused)-mostRefused):]
	case r.What == "artifact" && r.Decision == "allow" && r.Digest != "": // without a digest, the record is about the name
		o.delivered++
	case r.What == "document" && r.Decision == "done":
		k := key(r.Ecosystem, r.Name)
		if delete(o.hidden, k); r.Hidden > 0 && len(o.hidden) < mostHidden {
			o.hidden[k] = Hidden{r.Ecosystem, r.Name, r.Hidden}
		}
	}
}

// Overview returns the summary of the session so far.
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
		all.Denied = append(all.Denied, d.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all.Delivered, all.RefusedAll = s.seen.delivered, s.seen.refusedAll
	all.Refused = slices.Clone(s.seen.refused)
	slices.Reverse(all.Refused)
	for _, k := range slices.Sorted(maps.Keys(s.seen.hidden)) {
		all.Hidden = append(all.Hidden, s.seen.hidden[k])
	}
	return all
}

// counts returns the numbers of Overview.
func (s *Session) counts() Counts {
	c := Counts{Waiting: s.way.Waiting()}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Delivered = s.seen.delivered
	for _, h := range s.seen.hidden {
		c.Hidden += h.Versions
	}
	return c
}

// touch records that packages arrive.
func (s *Session) touch() {
	if s.moving != nil {
		s.moving.touch()
	}
}

// Release forgets that the person has denied a version, as Overview.Denied names it. The agent's
// next request for it is a new question.
func (s *Session) Release(version string) error {
	if s.way.Release(version) {
		return nil
	}
	return fault.New("/registries lists what was denied", "release %s: this version was not denied in this session", version)
}
