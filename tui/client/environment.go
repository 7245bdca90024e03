package client

import (
	"slices"
	"strings"
)

// inherited names the variables that a daemon gets from the terminal in which it was started. The
// programs that it runs for the person need them to find their files, servers and language. A name
// that ends with "*" stands for every name with that start.
var inherited = []string{
	"HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LC_*", "TZ",
	"XDG_CONFIG_*", "XDG_CACHE_HOME", "XDG_DATA_*", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
	"IRONCURTAIN_*",
	// Where agents' logins on this machine are.
	"ANTHROPIC_CONFIG_DIR", "CODEX_HOME",
	// The container engine.
	"DOCKER_*",
	// Git, SSH, and what signs commits and keeps secrets.
	"GIT_*", "EMAIL", "SSH_AUTH_SOCK", "GNUPGHOME", "PASSWORD_STORE_DIR",
	// Proxies and certificates, in both spellings.
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_*", "npm_config_*",
	// The clipboard, and programs that show notifications.
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
	// What Go reads itself.
	"GODEBUG", "GOTRACEBACK", "GOMEMLIMIT", "GORACE", "GOCOVERDIR",
}

// TokenVariable has the answer token of a helper. No daemon gets the variable.
const TokenVariable = "IRONCURTAIN_ANSWER_TOKEN" //nolint:gosec // its name is no secret

// environment returns the variables of all that a daemon gets: those that inherited or more names.
func environment(all, more []string) []string {
	var env []string
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if name == TokenVariable {
			continue
		}
		if slices.Contains(more, name) || slices.ContainsFunc(inherited, func(known string) bool {
			start, open := strings.CutSuffix(known, "*")
			return name == known || open && strings.HasPrefix(name, start)
		}) {
			env = append(env, variable)
		}
	}
	return env
}
