package stored

import (
	"fmt"
	"strings"
)

// Profile replaces parts of config.json and of the table of providers for one session. All paths are
// absolute. The zero value changes nothing.
type Profile struct {
	Demo       bool     `json:"demo,omitempty"`       // the scripted model, and the demo's git server
	Policy     string   `json:"policy,omitempty"`     // the directory of the compiled policy
	Servers    string   `json:"servers,omitempty"`    // a file with more MCP servers
	Upstreams  []string `json:"upstreams,omitempty"`  // HOST=URL: requests for the host go to the URL instead
	UpstreamCA string   `json:"upstreamCa,omitempty"` // a file with more certificate authorities for Upstreams
}

// IsZero reports whether the profile changes nothing.
func (p Profile) IsZero() bool { return len(p.parts()) == 0 }

// Same reports whether two profiles are equal.
func (p Profile) Same(q Profile) bool { return p.String() == q.String() }

// Files returns the paths of the files and directories that the profile names.
func (p Profile) Files() []string {
	var all []string
	for _, path := range []string{p.Policy, p.Servers, p.UpstreamCA} {
		if path != "" {
			all = append(all, path)
		}
	}
	return all
}

// String describes the profile for people. It returns "" if the profile changes nothing.
func (p Profile) String() string { return strings.Join(p.parts(), ", ") }

func (p Profile) parts() []string {
	var all []string
	if p.Demo {
		all = append(all, "demo")
	}
	if p.Policy != "" {
		all = append(all, fmt.Sprintf("policy %q", p.Policy))
	}
	if p.Servers != "" {
		all = append(all, fmt.Sprintf("servers %q", p.Servers))
	}
	for _, u := range p.Upstreams {
		all = append(all, fmt.Sprintf("upstream %q", u))
	}
	if p.UpstreamCA != "" {
		all = append(all, fmt.Sprintf("upstream CA %q", p.UpstreamCA))
	}
	return all
}
