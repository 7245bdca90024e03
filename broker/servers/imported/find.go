package imported

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Server is a server in another agent's configuration.
type Server struct {
	Name  string         // as config.json can have it
	From  string         // the other agent, such as "Claude Code"
	Entry map[string]any // its entry for mcpServers in config.json
	// Variables must be set where ironcurtain-mux is started. They replace values that may be
	// secrets.
	Variables []string
	Unusable  string // why the server cannot be imported, or ""
}

// What returns the command line of the server, or its address.
func (s Server) What() string {
	if url, ok := s.Entry["url"].(string); ok {
		return url
	}
	words := []string{fmt.Sprint(s.Entry["command"])}
	args, _ := s.Entry["args"].([]string)
	return strings.Join(append(words, args...), " ")
}

// source is a configuration of another agent.
type source struct {
	agent string
	path  string // below the person's home
	read  func([]byte) (map[string]foreign, error)
}

var sources = []source{
	{"Claude Code", ".claude.json", readClaude},
	{"Codex", ".codex/config.toml", readCodex},
	{"Gemini CLI", ".gemini/settings.json", readGemini},
	{"OpenCode", ".config/opencode/opencode.json", readOpenCode},
	{"OpenCode", ".config/opencode/opencode.jsonc", readOpenCode},
}

// mostConfig bounds a configuration, in bytes. It is large because Claude Code keeps its history in
// the same file.
const mostConfig = 64 << 20

// Find returns the servers in the configurations below home, sorted by name. The error is about the
// configurations that cannot be read; the servers in the others are returned, too. A missing
// configuration is not an error.
func Find(home string) ([]Server, error) {
	var all []Server
	var failures []error
	for _, s := range sources {
		path := filepath.Join(home, s.path)
		data, err := bounded.ReadFile(os.OpenFile, path, mostConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var entries map[string]foreign
		if err == nil {
			if entries, err = s.read(data); err != nil {
				err = withoutText(err)
			}
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("read %s: %w", path, fault.WithoutPath(err)))
			continue
		}
		for name, f := range entries {
			all = append(all, f.server(name, s.agent))
		}
	}
	slices.SortFunc(all, func(a, b Server) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.From, b.From))
	})
	return all, errors.Join(failures...)
}

// withoutText replaces a parser's error by one without its text, which may quote the file.
func withoutText(err error) error {
	var place *toml.DecodeError
	if errors.As(err, &place) {
		row, _ := place.Position()
		return fmt.Errorf("line %d is not in the format of that agent", row)
	}
	return errors.New("the file is not in the format of that agent")
}

// foreign is a server in the configuration of another agent. It has the members of all agents.
type foreign struct {
	Type        string            `json:"type"`
	Command     string            `json:"command" toml:"command"`
	Args        []string          `json:"args" toml:"args"`
	Env         map[string]string `json:"env" toml:"env"`
	EnvVars     []string          `json:"-" toml:"env_vars"` // variables that are passed on
	Cwd         string            `json:"cwd" toml:"cwd"`
	URL         string            `json:"url" toml:"url"`
	HTTPURL     string            `json:"httpUrl"` // of Gemini CLI, for Streamable HTTP; its url is for SSE
	Headers     map[string]string `json:"headers" toml:"http_headers"`
	EnvHeaders  map[string]string `json:"-" toml:"env_http_headers"` // variables by header
	BearerToken string            `json:"-" toml:"bearer_token_env_var"`
	Enabled     *bool             `json:"enabled" toml:"enabled"`
}

func readClaude(data []byte) (map[string]foreign, error) {
	var file struct {
		Servers  map[string]foreign `json:"mcpServers"`
		Projects map[string]struct {
			Servers map[string]foreign `json:"mcpServers"`
		} `json:"projects"`
	}
	err := json.Unmarshal(data, &file)
	all := map[string]foreign{}
	for _, dir := range slices.Sorted(maps.Keys(file.Projects)) {
		maps.Copy(all, file.Projects[dir].Servers)
	}
	maps.Copy(all, file.Servers)
	return all, err
}

func readCodex(data []byte) (map[string]foreign, error) {
	var file struct {
		Servers map[string]foreign `toml:"mcp_servers"`
	}
	err := toml.Unmarshal(data, &file)
	return file.Servers, err
}

func readGemini(data []byte) (map[string]foreign, error) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]foreign `json:"mcpServers"`
	}
	err = json.Unmarshal(plain, &file)
	for name, f := range file.Servers {
		if f.HTTPURL != "" {
			f.URL, f.Type = f.HTTPURL, "http"
		} else if f.URL != "" && f.Type == "" {
			f.Type = "sse"
		}
		file.Servers[name] = f
	}
	return file.Servers, err
}

func readOpenCode(data []byte) (map[string]foreign, error) {
	plain, err := hujson.Standardize(data)
	if err != nil {
		return nil, err
	}
	var file struct {
		Servers map[string]struct {
			Type        string            `json:"type"`
			Command     []string          `json:"command"`
			Environment map[string]string `json:"environment"`
			URL         string            `json:"url"`
			Headers     map[string]string `json:"headers"`
			Enabled     *bool             `json:"enabled"`
		} `json:"mcp"`
	}
	err = json.Unmarshal(plain, &file)
	all := map[string]foreign{}
	for name, s := range file.Servers {
		f := foreign{Env: s.Environment, URL: s.URL, Headers: s.Headers, Enabled: s.Enabled}
		if len(s.Command) > 0 {
			f.Command, f.Args = s.Command[0], s.Command[1:]
		}
		all[name] = f
	}
	return all, err
}

var (
	unusual = regexp.MustCompile(`[^A-Za-z0-9-]+`)
	// variable matches a value that only names a variable: ${NAME}, $NAME, {env:NAME}.
	variable = regexp.MustCompile(`^(?:\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)|\{env:([A-Za-z_][A-Za-z0-9_]*)\})$`)
	// secretNames matches names whose values may be secrets.
	secretNames = regexp.MustCompile(`(?i)token|secret|passw|key|auth|credential|cookie|dsn|database_url|connection`)
)

// server translates f into an entry of config.json.
func (f foreign) server(name, from string) Server {
	s := Server{Name: strings.Trim(unusual.ReplaceAllString(name, "-"), "-"), From: from, Entry: map[string]any{}}
	s.Name = s.Name[:min(len(s.Name), 32)]
	credentials, env := map[string]any{}, map[string]string{}
	refer := func(name, to string) {
		credentials[name] = map[string]string{"env": to}
		s.Variables = append(s.Variables, to)
	}
	switch {
	case s.Name == "":
		s.Unusable = "the name has no letters or digits"
	case f.Cwd != "":
		s.Unusable = "the server must be started in a certain directory, which is not supported"
	case f.URL != "" && f.Type == "sse":
		s.Unusable = "the server uses the former HTTP transport of MCP (SSE)"
	case f.URL == "" && f.Command == "":
		s.Unusable = "the server has neither a command nor an address"
	case f.mayShowSecret():
		s.Unusable = "the arguments or the address may contain a secret; write the server into config.json yourself"
		f.Args, f.URL = nil, strings.SplitN(f.URL, "?", 2)[0]
	}
	if f.URL != "" {
		s.Entry["type"], s.Entry["url"] = "http", f.URL
		f.headers(s.Entry, refer)
	} else {
		s.Entry["command"] = f.Command
		if len(f.Args) > 0 {
			s.Entry["args"] = f.Args
		}
		for key, value := range f.Env {
			switch m := variable.FindStringSubmatch(value); {
			case m != nil:
				refer(key, cmp.Or(m[1], m[2], m[3]))
			case secretNames.MatchString(key) || strings.Contains(value, "://") && strings.Contains(value, "@"):
				refer(key, key)
			default:
				env[key] = value
			}
		}
		for _, key := range f.EnvVars {
			refer(key, key)
		}
	}
	if len(env) > 0 {
		s.Entry["env"] = env
	}
	if len(credentials) > 0 {
		s.Entry["credentials"] = credentials
	}
	if f.Enabled != nil && !*f.Enabled {
		s.Entry["enabled"] = false
	}
	slices.Sort(s.Variables)
	s.Variables = slices.Compact(s.Variables)
	return s
}

// mayShowSecret reports whether an argument or the address may contain a secret.
func (f foreign) mayShowSecret() bool {
	for i, arg := range f.Args {
		flag, value, has := strings.Cut(arg, "=")
		if has && secretNames.MatchString(flag) && value != "" || i > 0 && strings.HasPrefix(f.Args[i-1], "-") && secretNames.MatchString(f.Args[i-1]) && !strings.Contains(f.Args[i-1], "=") {
			return true
		}
		if _, rest, is := strings.Cut(arg, "://"); is && strings.Contains(rest, "@") {
			return true
		}
	}
	u, err := url.Parse(f.URL)
	return err != nil || u.User != nil || secretNames.MatchString(u.RawQuery)
}

// headers translates the headers of a server with an address. Each value becomes a credential,
// because most values are secrets.
func (f foreign) headers(entry map[string]any, refer func(name, to string)) {
	headers := map[string]string{}
	put := func(header, before, name, to string) {
		headers[header] = before + "${" + name + "}"
		refer(name, to)
	}
	for header, value := range f.Headers {
		before, rest := "", value
		if after, ok := strings.CutPrefix(value, "Bearer "); ok {
			before, rest = "Bearer ", after
		}
		name := strings.ToUpper(strings.ReplaceAll(unusual.ReplaceAllString(header, "-"), "-", "_"))
		to := name
		if m := variable.FindStringSubmatch(rest); m != nil {
			to = cmp.Or(m[1], m[2], m[3])
		}
		put(header, before, name, to)
	}
	for header, to := range f.EnvHeaders {
		put(header, "", to, to)
	}
	if f.BearerToken != "" {
		put("Authorization", "Bearer ", f.BearerToken, f.BearerToken)
	}
	if len(headers) > 0 {
		entry["headers"] = headers
	}
}
