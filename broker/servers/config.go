package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Config is one entry of mcp-servers.json.
type Config struct {
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Type        string            `json:"type"`    // "stdio", "http", "streamable-http" or ""; other programs write it
	URL         string            `json:"url"`     // of a server that is reached over HTTP, in place of a command
	Headers     map[string]string `json:"headers"` // of requests to the URL; "${NAME}" is a credential
	OAuth       *OAuth            `json:"oauth"`   // how the person logs in at the server; nil means as the server says
	Description string            `json:"description"`
	Sandbox     Sandbox           `json:"sandbox"`
	// Credentials are variables of the server's environment, or parts of its headers, whose
	// values are read when the server starts and never written down.
	Credentials map[string]Credential `json:"credentials"`
	Agents      []string              `json:"agents"`   // whose sessions have the server; if empty, all have it
	Enabled     *bool                 `json:"enabled"`  // nil means true
	Comment     json.RawMessage       `json:"_comment"` // for people who read the file
}

// Credential says where a secret is: in the output of a command, in an environment variable or
// in a file. Exactly one member is set.
type Credential struct {
	Command []string `json:"command"`
	Env     string   `json:"env"`
	File    string   `json:"file"` // absolute, or below "~/"
}

// Off reports whether the server is not to be started.
func (c Config) Off() bool { return c.Enabled != nil && !*c.Enabled }

// For reports whether sessions of an agent have the server. If agent is "", it reports whether
// sessions of any agent do.
func (c Config) For(agent string) bool {
	return !c.Off() && (agent == "" || len(c.Agents) == 0 || slices.Contains(c.Agents, agent))
}

// Find returns the values of the server's credentials, by name.
func (c Config) Find(ctx context.Context, home string) (map[string]string, error) {
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Credentials)) {
		where := c.Credentials[name]
		ref := secretref.Reference{Command: where.Command, Env: where.Env, File: where.File}
		if rest, below := strings.CutPrefix(where.File, "~/"); below {
			ref.File = filepath.Join(home, rest)
		}
		var err error
		if found[name], err = ref.Resolve(ctx); err != nil {
			return nil, fault.New("fix the entry in the server's credentials", "find the credential %s: %w", name, err)
		}
	}
	return found, nil
}

// Sandbox says how a server is confined. The zero value is the default: the server can only write
// to the session's directory and has no network.
type Sandbox struct {
	Off        bool       `json:"-"` // "sandbox": false
	Filesystem Filesystem `json:"filesystem"`
	Network    Network    `json:"network"`
}

// Filesystem says what a server may read and write outside the session's directory. Relative paths
// are below that directory; "~" is the home directory.
type Filesystem struct {
	AllowWrite []string `json:"allowWrite"`
	AllowRead  []string `json:"allowRead"` // exceptions from DenyRead
	DenyRead   []string `json:"denyRead"`
	DenyWrite  []string `json:"denyWrite"`
}

// Network says what a server may reach. The zero value is no network.
type Network struct {
	// AllowedDomains lists hosts that the sandbox lets the server connect to.
	// Calls that name an address beyond them escalate.
	AllowedDomains []string `json:"allowedDomains"`
	DeniedDomains  []string `json:"deniedDomains"`
	// Judged means that the server has no network of its own: it asks the proxy for each web
	// request, and the policy judges every address.
	Judged bool `json:"judged"`
	// Private lists hosts ("name" or "name:port") that a judged request may reach even if their
	// addresses are private.
	Private []string `json:"private"`
}

// reserved is the name of the server with the program's own tools.
const reserved = "proxy"

// everySession are the names of the servers that each session has.
var everySession = []string{"filesystem", "git", "fetch"}

// CheckOwn returns an error if one of a person's own servers has the name of a server that each
// session has.
func CheckOwn(own map[string]Config) error {
	for _, name := range everySession {
		if _, is := own[name]; is {
			return fmt.Errorf("server %q: every session has a server of this name already", name)
		}
	}
	return nil
}

// names matches the names that a server may have. They are short because agents see the tools as
// server__tool, and the length of that is limited.
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

// Load reads mcp-servers.json strictly: a repeated name, an unknown member or a value of the wrong
// kind is an error.
func Load(path string) (map[string]Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read servers: %w", err)
	}
	return Parse(path, data)
}

// fix is the next step for a file that cannot be used.
const fix = "fix the file"

// Parse parses the text of an mcp-servers.json; errors name path. The text may have an outer
// "mcpServers" object, as other programs write it.
func Parse(path string, data []byte) (map[string]Config, error) {
	if _, err := jsonx.Parse(data, jsonx.Limits{Bytes: 1 << 20}); err != nil {
		return nil, fault.New(fix, "%s: %w", path, err)
	}
	entries := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fault.New(fix, "%s: expected an object of servers", path)
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
			return nil, fault.New(fix, "%s: server %q: %w", path, name, err)
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

// check refuses an entry that cannot be used.
func check(name string, c Config) error {
	switch {
	case name == reserved:
		return errors.New("this name is reserved")
	case !names.MatchString(name) || strings.Contains(name, "__"):
		return errors.New("a server's name has at most 32 letters, digits, '-' and single '_'")
	case c.Type == "sse":
		return errors.New(`type "sse": the older SSE transport is not supported; many servers also have "http" (Streamable HTTP) at another address`)
	case !slices.Contains([]string{"", "stdio", "http", "streamable-http"}, c.Type):
		return fmt.Errorf(`type %q: the type must be "stdio" or "http"`, c.Type)
	case !c.overHTTP() && c.Command == "":
		return errors.New("command or url is missing")
	}
	for key, credential := range c.Credentials {
		if err := credential.check(key); err != nil {
			return err
		}
	}
	if c.overHTTP() {
		return c.checkRemote()
	}
	if len(c.Headers) > 0 || c.OAuth != nil {
		return errors.New("headers and oauth are for servers with a url")
	}
	for key := range c.Credentials {
		if _, twice := c.Env[key]; twice {
			return fmt.Errorf("%q is in env and in credentials", key)
		}
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

func (c Credential) check(name string) error {
	set := 0
	for _, is := range []bool{len(c.Command) > 0, c.Env != "", c.File != ""} {
		if is {
			set++
		}
	}
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return fmt.Errorf("credentials: %q is not the name of a variable", name)
	case set != 1:
		return fmt.Errorf("credentials: %s needs one of command, env and file; the value itself is never written here", name)
	case c.File != "" && !strings.HasPrefix(c.File, "/") && !strings.HasPrefix(c.File, "~/"):
		return fmt.Errorf("credentials: the file of %s is not an absolute path", name)
	}
	return nil
}

// check refuses settings that would have no effect, or an unexpected one.
func (n Network) check() error {
	if len(n.Private) > 0 && !n.Judged {
		return errors.New(`network: "private" applies to judged requests only`)
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

// Allows reports whether the sandbox lets a server connect to a host. An entry names the host, the
// host with the port, or all hosts below a domain ("*.domain").
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

// CheckDomain returns an error if a sandbox cannot let a server connect to a host ("name" or
// "name:port").
func CheckDomain(entry string) error {
	host, _, _ := strings.Cut(entry, ":")
	if strings.HasPrefix(entry, "[") {
		return fmt.Errorf("a sandbox cannot reach %s, because it is an IPv6 address", entry)
	}
	if host != "localhost" && !strings.Contains(strings.Trim(host, "."), ".") {
		return fmt.Errorf("a sandbox cannot reach %s, because its name has no dot", host)
	}
	return nil
}
