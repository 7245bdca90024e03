// Package oauth uses the logins that the providers' own programs keep on the
// host: it finds them, gives out their access tokens and renews them without
// getting in the way of those programs.
//
// Refresh tokens rotate: whoever uses one makes it worthless for everybody
// else, and two programs that renew at once log the person out. So a renewal
// happens under the lock directories that the programs themselves use, it
// begins with reading the file again and comparing, and its result goes back
// into the same file, in the same shape, by an atomic replacement that keeps
// what this package does not know. A failure is followed by a growing pause.
package oauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Token is what a login consists of.
type Token struct {
	Access  string
	Refresh string    // empty for a login that cannot be renewed
	ID      string    // the token that tells who logged in; empty where there is none
	Expires time.Time // zero when unknown
	Account string    // that requests must name; empty where they need not
}

// String keeps a token out of logs.
func (t Token) String() string { return "OAuth token" }

// GoString keeps a token out of logs.
func (t Token) GoString() string { return t.String() }

// usable says whether a token will do for the given time.
func (t Token) usable(now time.Time, margin time.Duration) bool {
	return t.Access != "" && (t.Expires.IsZero() || now.Add(margin).Before(t.Expires))
}

// Source is one login of one program on the host.
type Source struct {
	Name      string // for people: "Claude Code"
	Provider  string // of the provider table
	Path      string // of the file that holds the login
	Login     string // the command that logs in
	endpoint  string // of the token service
	client    string // the program's id at the token service
	form      bool   // the request is a form instead of JSON
	userAgent string // the token service turns unknown ones away
	locks     []string
	inner     []string // where in the file the members stand
	names     names
	stamp     string // outermost member that tells when the login was renewed; empty for none
}

// Endpoint is the address of the token service.
func (s *Source) Endpoint() string { return s.endpoint }

// names are the members of a file that hold the parts of a token.
type names struct {
	access, refresh, expires, account, id string

	kind string        // if it is there, it must be kindOf
	unit time.Duration // of expires; 0 when the access token itself tells
}

// kindOf is what a file says of itself that may hold something else, too.
const kindOf = "oauth_token"

// claudeCode is the login of Claude Code in a home directory.
func claudeCode(home string) *Source {
	dir := filepath.Join(home, ".claude")
	return &Source{
		Name: "Claude Code", Provider: "anthropic", Path: filepath.Join(dir, ".credentials.json"), Login: "claude /login",
		endpoint: "https://platform.claude.com/v1/oauth/token", client: "9d1c250a-e61b-44d9-88ed-5944d1962f5e", form: true,
		userAgent: "claude-cli/2.1.329 (external, cli)",
		locks:     []string{dir + ".lock", filepath.Join(dir, ".oauth_refresh.lock")},
		inner:     []string{"claudeAiOauth"},
		names:     names{access: "accessToken", refresh: "refreshToken", expires: "expiresAt", unit: time.Millisecond},
	}
}

// anthropicCLI is the login of Anthropic's command-line program.
func anthropicCLI(dir string) *Source {
	path := filepath.Join(dir, "credentials", "default.json")
	return &Source{
		Name: "the Anthropic CLI", Provider: "anthropic", Path: path, Login: "ant auth login",
		endpoint: "https://api.anthropic.com/v1/oauth/token", client: "41077d10-94b8-4194-be48-d251e9eb21b4",
		userAgent: "claude-cli/2.1.329 (external, cli)",
		locks:     []string{path + ".lock"},
		names:     names{access: "access_token", refresh: "refresh_token", expires: "expires_at", unit: time.Second, kind: "type"},
	}
}

// codex is the ChatGPT login of Codex.
func codex(dir string) *Source {
	path := filepath.Join(dir, "auth.json")
	return &Source{
		Name: "Codex", Provider: "chatgpt", Path: path, Login: "codex login",
		endpoint: "https://auth.openai.com/oauth/token", client: "app_EMoamEEZ73f0CkXaXp7hrann",
		userAgent: "codex_cli_rs",
		locks:     []string{path + ".lock"},
		inner:     []string{"tokens"},
		names:     names{access: "access_token", refresh: "refresh_token", account: "account_id", id: "id_token"},
		stamp:     "last_refresh",
	}
}

// Environment says where the programs keep their files.
type Environment struct {
	Home   string              // of the person
	Getenv func(string) string // os.Getenv, or a test's
}

// Sources lists the places in which a login for a provider can be, in the
// order in which they are tried.
func Sources(provider string, e Environment) []*Source {
	switch provider {
	case "anthropic":
		dir := e.Getenv("ANTHROPIC_CONFIG_DIR")
		if dir == "" {
			config := e.Getenv("XDG_CONFIG_HOME")
			if config == "" {
				config = filepath.Join(e.Home, ".config")
			}
			dir = filepath.Join(config, "anthropic")
		}
		return []*Source{claudeCode(e.Home), anthropicCLI(dir)}
	case "chatgpt":
		dir := e.Getenv("CODEX_HOME")
		if dir == "" {
			dir = filepath.Join(e.Home, ".codex")
		}
		return []*Source{codex(dir)}
	}
	return nil
}

// Find returns the first source that holds a login which is valid or can be
// renewed. A login that is neither does not hide a later one. Without any it
// returns a *LoginError.
func Find(provider string, e Environment, now time.Time) (*Source, error) {
	sources := Sources(provider, e)
	missing := &LoginError{Provider: provider, Cause: "there is no login on this machine"}
	for i, s := range sources {
		if i == 0 {
			missing.Command = s.Login
		}
		token, err := s.Read()
		if err == nil && (token.Refresh != "" || token.usable(now, 0)) {
			return s, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			missing.Cause = err.Error()
		} else if err == nil {
			missing.Cause = "the login of " + s.Name + " has expired"
		}
	}
	return nil, missing
}

// LoginError says that a person has to log in.
type LoginError struct {
	Provider string
	Cause    string
	Command  string
}

func (e *LoginError) Error() string { return "log in to " + e.Provider + ": " + e.Cause }

// Hint is the command that logs in.
func (e *LoginError) Hint() string {
	if e.Command == "" {
		return ""
	}
	return "run '" + e.Command + "' on the host"
}

// maxFile bounds a credential file.
const maxFile = 1 << 20

// Read reads the login as it is in the file now.
func (s *Source) Read() (Token, error) {
	data, err := s.load()
	if err != nil {
		return Token{}, err
	}
	return s.parse(data)
}

func (s *Source) load() ([]byte, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("read the login of %s: %s is not a small regular file", s.Name, s.Path)
	}
	return os.ReadFile(s.Path)
}

// parse reads the login out of a file's content. Errors never quote it.
func (s *Source) parse(data []byte) (Token, error) {
	members, err := s.members(data)
	if err != nil {
		return Token{}, err
	}
	t := Token{
		Access:  text(members[s.names.access]),
		Refresh: text(members[s.names.refresh]),
		Account: text(members[s.names.account]),
		ID:      text(members[s.names.id]),
	}
	if kind := text(members[s.names.kind]); s.names.kind != "" && kind != "" && kind != kindOf {
		return Token{}, fmt.Errorf("read the login of %s: %s holds no login", s.Name, s.Path)
	}
	if t.Access == "" && t.Refresh == "" {
		return Token{}, fmt.Errorf("read the login of %s: %s holds no token", s.Name, s.Path)
	}
	if s.names.unit == 0 {
		t.Expires = jwtExpiry(t.Access)
		return t, nil
	}
	var n float64
	if json.Unmarshal(members[s.names.expires], &n) == nil && n > 0 && n < 1<<42 {
		t.Expires = time.UnixMilli(int64(n) * int64(s.names.unit/time.Millisecond))
	}
	return t, nil
}

// members returns the object of the file that holds the token.
func (s *Source) members(data []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	err := json.Unmarshal(data, &members)
	for _, name := range s.inner {
		if err != nil {
			break
		}
		inner := members[name]
		if inner == nil {
			return nil, fmt.Errorf("read the login of %s: %s has no %s", s.Name, s.Path, name)
		}
		members = nil
		err = json.Unmarshal(inner, &members)
	}
	if err != nil || members == nil {
		return nil, fmt.Errorf("read the login of %s: %s is not the JSON that was expected", s.Name, s.Path)
	}
	return members, nil
}

func text(raw json.RawMessage) string {
	var s string
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// jwtExpiry reads the expiry out of an access token; zero when there is none.
// The signature is the provider's business: a wrong expiry harms only us.
func jwtExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0)
}
