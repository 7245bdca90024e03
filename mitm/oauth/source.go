// Package oauth uses the logins that the providers' own programs keep on the host. It
// finds them, returns their access tokens and renews them without disturbing those
// programs.
//
// Refresh tokens rotate: using one makes it invalid for all other programs, and two
// programs that renew at the same time log the person out. So a renewal takes the lock
// directories that the programs themselves use, and first reads the login again to see
// whether another program has renewed it. The result is stored in the same place, a file
// or an item of the keychain, and in the same format. It replaces the old text atomically
// and keeps members that this package does not know. After a failure there is a pause,
// which grows with each failure.
package oauth

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Token holds the tokens of a login.
type Token struct {
	Access  string
	Refresh string    // empty for a login that cannot be renewed
	ID      string    // the token that says who logged in; may be empty
	Expires time.Time // zero when unknown
	Account string    // the account that requests must name; may be empty
}

// String keeps a token out of logs.
func (t Token) String() string { return "OAuth token" }

// GoString keeps a token out of logs.
func (t Token) GoString() string { return t.String() }

// usable reports whether a token is valid at now and for margin after that.
func (t Token) usable(now time.Time, margin time.Duration) bool {
	return t.Access != "" && (t.Expires.IsZero() || now.Add(margin).Before(t.Expires))
}

// Source is one login of one program on the host.
type Source struct {
	Name      string // for people: "Claude Code"
	Provider  string // of the provider table
	Login     string // the command that logs in
	store     store  // where the login is kept
	guard     string // directory on which this program's processes hold a lock
	endpoint  string // of the token service
	client    string // the program's id at the token service
	form      bool   // the request is a form instead of JSON
	userAgent string // sent because the token service refuses unknown ones
	locks     []string
	inner     []string // path of the object that holds the members
	names     names
	stamp     string // outermost member that says when the login was renewed; empty for none
}

// Place says where the login is kept, for people. It is different for each source.
func (s *Source) Place() string { return s.store.place() }

// Endpoint returns the address of the token service.
func (s *Source) Endpoint() string { return s.endpoint }

// claudeCode is the login of Claude Code in a home directory.
func claudeCode(home string) *Source {
	dir := filepath.Join(home, ".claude")
	return &Source{
		Name: "Claude Code", Provider: "anthropic", Login: "claude /login",
		store: file(filepath.Join(dir, ".credentials.json")), guard: dir,
		endpoint: "https://platform.claude.com/v1/oauth/token", client: "9d1c250a-e61b-44d9-88ed-5944d1962f5e", form: true,
		userAgent: "claude-cli/2.1.329 (external, cli)",
		locks:     []string{dir + ".lock", filepath.Join(dir, ".oauth_refresh.lock")},
		inner:     []string{"claudeAiOauth"},
		names:     names{access: "accessToken", refresh: "refreshToken", expires: "expiresAt", unit: time.Millisecond},
	}
}

// claudeKeychain is the login of Claude Code on macOS: the same text in an item of the
// keychain. It uses the locks of the file.
func claudeKeychain(home string, k *Keychain, service string) *Source {
	s := claudeCode(home)
	s.store = item{k, service}
	return s
}

// anthropicCLI is the login of Anthropic's command-line program.
func anthropicCLI(dir string) *Source {
	path := filepath.Join(dir, "credentials", "default.json")
	return &Source{
		Name: "the Anthropic CLI", Provider: "anthropic", Login: "ant auth login",
		store: file(path), guard: filepath.Dir(path),
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
		Name: "Codex", Provider: "chatgpt", Login: "codex login",
		store: file(path), guard: dir,
		endpoint: "https://auth.openai.com/oauth/token", client: "app_EMoamEEZ73f0CkXaXp7hrann",
		userAgent: "codex_cli_rs",
		locks:     []string{path + ".lock"},
		inner:     []string{"tokens"},
		names:     names{access: "access_token", refresh: "refresh_token", account: "account_id", id: "id_token"},
		stamp:     "last_refresh",
	}
}

// Environment says where the programs keep their logins.
type Environment struct {
	Home     string              // of the person
	Getenv   func(string) string // os.Getenv, except in tests
	Keychain *Keychain           // nil if there is none
}

// Sources lists the places where a login for a provider can be, in the order in which
// Find tries them.
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
		all := []*Source{claudeCode(e.Home), anthropicCLI(dir)}
		if e.Keychain != nil {
			for _, service := range []string{"Claude Code-credentials", "Claude Code"} {
				all = append(all, claudeKeychain(e.Home, e.Keychain, service))
			}
		}
		return all
	case "chatgpt":
		dir := e.Getenv("CODEX_HOME")
		if dir == "" {
			dir = filepath.Join(e.Home, ".codex")
		}
		return []*Source{codex(dir)}
	}
	return nil
}

// Find returns the first source whose login is valid or can be renewed. If there is none,
// it returns a *LoginError.
func Find(provider string, e Environment, now time.Time) (*Source, error) {
	sources := Sources(provider, e)
	missing := &LoginError{Provider: provider}
	note := func(cause string) { // the first cause is that of the preferred login, so it is kept
		if missing.Cause == "" {
			missing.Cause = cause
		}
	}
	for i, s := range sources {
		if i == 0 {
			missing.Command = s.Login
		}
		token, err := s.Read()
		if err == nil && (token.Refresh != "" || token.usable(now, 0)) {
			return s, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			note(err.Error())
		} else if err == nil {
			note("the login of " + s.Name + " has expired")
		}
	}
	note("there is no login on this machine")
	return nil, missing
}

// LoginError says that a person has to log in.
type LoginError struct {
	Provider string
	Cause    string
	Command  string
}

func (e *LoginError) Error() string { return "log in to " + e.Provider + ": " + e.Cause }

// Hint returns what to do: the command that logs in.
func (e *LoginError) Hint() string {
	if e.Command == "" {
		return ""
	}
	return "run '" + e.Command + "' on the host"
}
