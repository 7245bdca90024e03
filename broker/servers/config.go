package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Config is one entry of mcp-servers.json.
type Config struct {
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Description string            `json:"description"`
	Sandbox     Sandbox           `json:"sandbox"`
	Comment     json.RawMessage   `json:"_comment"` // for whoever reads the file
}

// Sandbox is how a server is confined. The zero value, an absent field, is the
// default: only the session's directory can be written, no network.
type Sandbox struct {
	Off        bool       `json:"-"` // "sandbox": false
	Filesystem Filesystem `json:"filesystem"`
	Network    Network    `json:"network"`
}

// Filesystem says what a server may reach beyond the session's directory.
// Relative paths are below that directory; "~" is the home directory.
type Filesystem struct {
	AllowWrite []string `json:"allowWrite"`
	AllowRead  []string `json:"allowRead"` // inside what is denied
	DenyRead   []string `json:"denyRead"`
	DenyWrite  []string `json:"denyWrite"`
}

// Network says what a server may reach. The zero value is no network.
type Network struct {
	// AllowedDomains lists hosts that the sandbox lets the server connect to.
	// Calls that name an address beyond them escalate.
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
	// Judged leaves the server without a network of its own: it asks the proxy
	// for each web request, and the policy judges every address.
	Judged bool `json:"judged"`
	// Private lists hosts ("name" or "name:port") that a judged request may
	// reach although their addresses are private.
	Private []string `json:"private"`
}

// reserved is the server name of the product's own tools.
const reserved = "proxy"

// names are what a server may be called: tools are shown to agents as
// server__tool, and there is only so much room.
var names = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]|_[A-Za-z0-9-]){0,31}$`)

// UnmarshalJSON reads false or an object.
func (s *Sandbox) UnmarshalJSON(b []byte) error {
	if string(b) == "false" {
		*s = Sandbox{Off: true}
		return nil
	}
	if len(b) == 0 || b[0] != '{' {
		return errors.New("sandbox must be false or an object")
	}
	type plain Sandbox
	return strictly(b, (*plain)(s))
}

// UnmarshalJSON reads false or an object.
func (n *Network) UnmarshalJSON(b []byte) error {
	if string(b) == "false" {
		*n = Network{}
		return nil
	}
	if len(b) == 0 || b[0] != '{' {
		return errors.New("network must be false or an object")
	}
	type plain Network
	return strictly(b, (*plain)(n))
}

// Load reads mcp-servers.json strictly: a name written twice, a member nobody
// knows or a value of the wrong kind is an error.
func Load(path string) (map[string]Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read servers: %w", err)
	}
	return Parse(path, data)
}

// mend is the next step for a file that cannot be used.
const mend = "mend the file"

// Parse reads the text of an mcp-servers.json; path is used in errors only. An
// outer "mcpServers" object, as other programs write it, may be there.
func Parse(path string, data []byte) (map[string]Config, error) {
	if _, err := jsonx.Parse(data, jsonx.Limits{Bytes: 1 << 20}); err != nil {
		return nil, fault.New(mend, "%s: %w", path, err)
	}
	entries := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fault.New(mend, "%s: expected an object of servers", path)
	}
	if inner, ok := entries["mcpServers"]; ok && len(entries) == 1 {
		return Parse(path, inner)
	}
	all := map[string]Config{}
	for name, raw := range entries {
		var c Config
		err := strictly(raw, &c)
		if err == nil {
			err = check(name, c)
		}
		if err != nil {
			return nil, fault.New(mend, "%s: server %q: %w", path, name, err)
		}
		all[name] = c
	}
	return all, nil
}

func strictly(b []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// check refuses an entry that could not be run.
func check(name string, c Config) error {
	switch {
	case name == reserved:
		return errors.New("this name is reserved")
	case !names.MatchString(name) || strings.Contains(name, "__"):
		return errors.New("a server's name has at most 32 letters, digits, '-' and single '_'")
	case c.Command == "":
		return errors.New("command is missing")
	}
	for key := range c.Env {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			return fmt.Errorf("env: %q is not the name of a variable", key)
		}
	}
	all := slices.Concat([]string{c.Command}, c.Args, c.Sandbox.Filesystem.AllowWrite, c.Sandbox.Filesystem.AllowRead,
		c.Sandbox.Filesystem.DenyRead, c.Sandbox.Filesystem.DenyWrite)
	for _, s := range all {
		if strings.ContainsRune(s, 0) {
			return errors.New("a text contains a NUL byte")
		}
	}
	for _, d := range slices.Concat(c.Sandbox.Network.AllowedDomains, c.Sandbox.Network.DeniedDomains) {
		if d == "" || d == "*" || strings.ContainsAny(d, " /@") {
			return fmt.Errorf("network: %q is not a domain", d)
		}
	}
	return c.Sandbox.Network.check()
}

// check refuses settings that would have no effect, or another effect than they say.
func (n Network) check() error {
	if len(n.Private) > 0 && !n.Judged {
		return errors.New(`network: "private" speaks of judged requests only`)
	}
	if n.Judged && len(n.DeniedDomains) > 0 {
		return errors.New(`network: judged requests are denied by the policy, not by "deniedDomains"`)
	}
	for _, host := range n.Private {
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, " /@*") {
			return fmt.Errorf("network: %q is not a host", host)
		}
	}
	return nil
}

// Allows reports whether the sandbox lets a server connect to a host: an entry names the
// host, the host and this port, or with "*." all hosts below a domain.
func (n Network) Allows(host, port string) bool {
	return !n.Judged && covers(n.AllowedDomains, host, port) && !covers(n.DeniedDomains, host, port)
}

func covers(entries []string, host, port string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		name, only, limited := strings.Cut(strings.ToLower(entry), ":")
		if limited && only != port {
			return false
		}
		domain, wide := strings.CutPrefix(name, "*.")
		return name == host || wide && strings.HasSuffix(host, "."+domain)
	})
}

// CheckDomain returns why a sandbox cannot let a server connect to a host ("name" or
// "name:port"), or nil.
func CheckDomain(entry string) error {
	host, _, _ := strings.Cut(entry, ":")
	if strings.HasPrefix(entry, "[") {
		return fmt.Errorf("a sandbox cannot reach %s, which is a bare IPv6 address", entry)
	}
	if host != "localhost" && !strings.Contains(strings.Trim(host, "."), ".") {
		return fmt.Errorf("a sandbox cannot reach %s, which has no dot in its name", host)
	}
	return nil
}
