package gitauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Credential is a person's login at a host. Printing it does not show the secret.
type Credential struct {
	User   string
	secret *string // a pointer, so that printing what holds a Credential shows an address
	words  string
}

// String says whose login it is and where it comes from, for the approval panel.
func (c Credential) String() string { return c.words }

// GoString returns String, so that %#v does not show the secret either.
func (c Credential) GoString() string { return c.words }

// reveal returns the secret.
func (c Credential) reveal() string {
	if c.secret == nil {
		return ""
	}
	return *c.secret
}

// Fill asks git on the host for the person's login at an HTTPS remote, as git itself does before a
// request. Git asks the credential helpers that the person has configured. It does not read the
// configuration of the workspace's repository.
//
// After a request, git tells its helpers whether the login was accepted (approve) or not (reject).
// This program does neither. To approve is unnecessary, because the helper already has the login. To
// reject would make the helper forget the login because of an answer that an agent can provoke, for
// example with the path of a repository that does not exist.
func Fill(ctx context.Context, remote gitx.Address) (Credential, error) {
	if remote.Scheme != "https" {
		return Credential{}, fault.New("use an https remote", "no credential is sent over %s", remote.Scheme)
	}
	if strings.ContainsAny(decoded(remote), "\x00\n\r") {
		return Credential{}, fault.New("use another address", "the path of %s cannot be passed to a credential helper", remote)
	}
	helpers, err := configured(ctx, remote)
	if err != nil {
		return Credential{}, err
	}
	host := hostPort(remote)
	query := "protocol=https\nhost=" + host + "\npath=" + strings.TrimRight(decoded(remote), "/") + "\n\n"
	out, err := ask(ctx, query, "git", "credential", "fill")
	next := "log in once yourself, for example with 'git ls-remote " + remote.String() + "', and have git keep the login"
	var exit *exec.ExitError
	switch {
	case errors.Is(err, errSlow):
		return Credential{}, fault.New("check that the helper answers without asking you", "%s gave no answer for %s in %v", helperWords(helpers), host, askLimit)
	case errors.As(err, &exit) && len(helpers) == 0:
		return Credential{}, fault.New(next, "git has no login for %s: no credential helper is configured", host)
	case errors.As(err, &exit):
		return Credential{}, fault.New(next, "git has no login for %s: %s has none, or would have to ask on a terminal", host, helperWords(helpers))
	case err != nil:
		return Credential{}, fault.Wrap("ask git for the login at "+host, err, "check that git works")
	}
	c, err := parseCredential(string(out), host)
	if err != nil {
		return Credential{}, fault.New("see what 'git credential fill' prints", "the login that %s has for %s cannot be used: %w", helperWords(helpers), host, err)
	}
	c.words = fmt.Sprintf("user %s at %s, from %s", strconv.Quote(c.User), host, helperWords(helpers))
	return c, nil
}

// parseCredential parses the output of "git credential fill". It ignores unknown names, because
// later versions of git may add some.
func parseCredential(text, host string) (Credential, error) {
	values := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(value, "\x00\r") {
			return Credential{}, errors.New("git's answer is malformed")
		}
		if _, twice := values[name]; twice && !strings.HasSuffix(name, "[]") {
			return Credential{}, fmt.Errorf("git's answer says %q twice", name)
		}
		values[name] = value
	}
	switch {
	case values["protocol"] != "https" || values["host"] != host:
		return Credential{}, errors.New("git's answer is for another host")
	case values["username"] == "" || values["password"] == "":
		return Credential{}, errors.New("git's answer has no user name or no password")
	case strings.Contains(values["username"], ":"):
		return Credential{}, errors.New("the user name contains a colon")
	}
	secret := values["password"]
	return Credential{User: values["username"], secret: &secret}, nil
}

// hostPort returns the host as git writes it for a credential: with the port, unless that is 443.
func hostPort(remote gitx.Address) string {
	host := remote.Host
	if remote.IP.Is6() {
		host = "[" + host + "]"
	}
	if remote.Port != 443 {
		host += ":" + strconv.Itoa(remote.Port)
	}
	return host
}

// repository returns the path of the remote's repository as the address has it, without the slash
// after the host.
func repository(remote gitx.Address) string {
	if _, rest, ok := strings.Cut(remote.String(), "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		return path
	}
	// user@[host]:path, where a host in brackets may contain colons
	rest := remote.String()
	if i := strings.Index(rest, "]:"); i >= 0 {
		return rest[i+2:]
	}
	_, path, _ := strings.Cut(rest, ":")
	return path
}

// decoded returns the path of the repository without percent-encoding, as git passes it to helpers
// and to ssh.
func decoded(remote gitx.Address) string {
	path := repository(remote)
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}
