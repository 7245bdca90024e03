package gitauth

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// sshConfig has the settings of the person's ssh configuration for a host. Its other settings are
// not used, such as commands (LocalCommand, RemoteCommand, KnownHostsCommand), forwardings and
// shared connections.
type sshConfig struct {
	host, user     string
	port           int
	knownAs        string   // the name in known_hosts, without the port
	portInName     bool     // the port belongs to that name
	knownHosts     []string // files
	revoked        string   // a file of revoked host keys, or ""
	agent          string   // a socket, or ""
	identityFiles  []string
	identitiesOnly bool
}

// configFile replaces the usual configuration of ssh in tests.
var configFile string

// plainHost and plainUser match the names that are accepted as arguments of ssh.
var (
	plainHost = regexp.MustCompile(`^[A-Za-z0-9:][A-Za-z0-9.:_-]*$`)
	plainUser = regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]*$`)
)

// readConfig asks ssh for the settings in the person's configuration for a remote's host. For "Match
// exec" ssh runs the command that the person has configured, as for every connection of theirs.
// Therefore the name of the host is checked first.
func readConfig(ctx context.Context, remote gitx.Address) (sshConfig, error) {
	const op = "read the ssh configuration"
	next := "see what 'ssh -G " + remote.Host + "' says"
	if !plainHost.MatchString(remote.Host) {
		return sshConfig{}, fault.New("use another name for the host", "%s: %.100q is not the name of a host that ssh accepts", op, remote.Host)
	}
	argv := []string{"ssh", "-G"}
	if configFile != "" {
		argv = append(argv, "-F", configFile)
	}
	if remote.User != "" {
		argv = append(argv, "-l", remote.User)
	}
	if remote.Port != 22 {
		argv = append(argv, "-p", strconv.Itoa(remote.Port))
	}
	out, err := ask(ctx, "", append(argv, "--", remote.Host)...)
	if err != nil {
		return sshConfig{}, fault.Wrap(op, err, next)
	}
	said := map[string][]string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		name, value, _ := strings.Cut(line, " ")
		said[name] = append(said[name], value)
	}
	c, err := parseConfig(said)
	return c, fault.Wrap(op+" for "+remote.Host, err, next)
}

// parseConfig reads the settings that "ssh -G" has printed, by name.
func parseConfig(said map[string][]string) (sshConfig, error) {
	one := func(name string) string {
		if v := said[name]; len(v) > 0 && v[0] != "none" {
			return v[0]
		}
		return ""
	}
	for _, name := range []string{"proxycommand", "proxyjump"} {
		if one(name) != "" {
			return sshConfig{}, fault.New("push or fetch yourself", "a connection through another machine (%s) is not supported", name)
		}
	}
	c := sshConfig{host: one("hostname"), user: one("user"), revoked: expand(one("revokedhostkeys")), identitiesOnly: one("identitiesonly") == "yes"}
	var err error
	if c.port, err = strconv.Atoi(one("port")); err != nil || c.port < 1 || c.port > 65535 || !plainHost.MatchString(c.host) || !plainUser.MatchString(c.user) {
		return sshConfig{}, errors.New("the host, the port or the user is not valid")
	}
	c.knownAs, c.portInName = one("hostkeyalias"), false
	if c.knownAs == "" {
		c.knownAs, c.portInName = c.host, true
	}
	if !plainHost.MatchString(c.knownAs) {
		return sshConfig{}, errors.New("the HostKeyAlias is not a plain name")
	}
	for _, name := range []string{"userknownhostsfile", "globalknownhostsfile"} {
		for file := range strings.FieldsSeq(one(name)) {
			c.knownHosts = append(c.knownHosts, expand(file))
		}
	}
	for _, file := range said["identityfile"] {
		if file != "none" {
			c.identityFiles = append(c.identityFiles, expand(file))
		}
	}
	c.agent = os.Getenv("SSH_AUTH_SOCK")
	switch v := said["identityagent"]; {
	case len(v) == 0 || v[0] == "SSH_AUTH_SOCK":
	case v[0] == "none":
		c.agent = ""
	case strings.HasPrefix(v[0], "$"):
		c.agent = os.ExpandEnv(v[0])
	default:
		c.agent = expand(v[0])
	}
	return c, nil
}

// expand replaces a leading "~" by the home directory.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}
