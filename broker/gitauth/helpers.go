package gitauth

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"path"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// configured returns the names of the credential helpers that git would ask for a remote, in order.
func configured(ctx context.Context, remote gitx.Address) ([]string, error) {
	out, err := ask(ctx, "", "git", "config", "--null", "--get-regexp", `^credential(\..*)?\.helper$`)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // none
	}
	if err != nil {
		return nil, fault.Wrap("read git's configuration", err, "see what 'git config --list' says outside of a repository")
	}
	var names []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		key = strings.TrimSuffix(strings.TrimPrefix(key, "credential."), "helper")
		switch scope := strings.TrimSuffix(key, "."); {
		case scope != "" && !covers(scope, remote):
		case value == "": // an empty value resets the list
			names = nil
		default:
			names = append(names, helperName(value))
		}
	}
	return names, nil
}

// covers reports whether git applies the settings of a URL to a remote. A part of the host's name
// may be "*".
func covers(scope string, remote gitx.Address) bool {
	u, err := url.Parse(scope)
	if err != nil || u.Scheme != "https" && u.Scheme != "" {
		return false
	}
	if u.Scheme == "" { // without a scheme, git applies the settings to every protocol
		if u, err = url.Parse("https://" + scope); err != nil {
			return false
		}
	}
	want := strings.Split(strings.ToLower(strings.TrimSuffix(u.Host, ":443")), ".")
	have := strings.Split(hostPort(remote), ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != "*" && want[i] != have[i] {
			return false
		}
	}
	prefix, path := strings.Trim(u.Path, "/"), repository(remote)
	return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

// plainName matches a program's name that can be shown. A helper may also be shell code, which may
// contain a secret.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// helperName returns the name of a helper's program, without arguments.
func helperName(value string) string {
	words := strings.Fields(strings.TrimPrefix(value, "!"))
	if len(words) > 0 {
		if name := path.Base(words[0]); plainName.MatchString(name) {
			return "`" + name + "`"
		}
	}
	return "a shell command"
}

// helperWords describes the helpers that were asked.
func helperWords(names []string) string {
	switch len(names) {
	case 0:
		return "git's configuration"
	case 1:
		return "the credential helper " + names[0]
	}
	return "the credential helpers " + strings.Join(names, ", ")
}
