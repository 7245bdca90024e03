package learn

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Login reads the person's login for a source from where the source's Credential says. It returns
// the value of the header field Authorization, or "" for a source without a credential. The value
// must be sent only to the host of the source's URL. An error means that there is no login any
// more, or that it must not be sent to that address. Errors contain no secrets.
func (h Host) Login(ctx context.Context, s Source) (string, error) {
	if s.Credential == "" {
		return "", nil
	}
	op := "find the login for " + s.URL
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return "", fault.Wrap(op, errors.New("the source has no address"), "")
	}
	if u.Scheme != "https" && !s.Private && !netguard.OnThisMachine(u.Hostname()) {
		return "", fault.Wrap(op, errors.New("the login would be sent without encryption"), "use https, or say in registries.sources that the registry is private")
	}
	value, err := h.credential(ctx, s)
	if err == nil && value == "" {
		err = fault.New("log in again with the registry's tool, or change credential in registries.sources", "%s has no login for this address", s.Credential)
	}
	if err == nil && !isFieldValue(value) {
		err = errors.New("the login has characters that a header field must not have")
	}
	if err != nil {
		return "", fault.Wrap(op, err, "")
	}
	return value, nil
}

// credential returns the login that the source's Credential refers to, or "" if there is none.
func (h Host) credential(ctx context.Context, s Source) (string, error) {
	switch s.Credential {
	case "npmrc":
		rc := npmrc{}
		for _, path := range h.npmrcPaths(ctx) {
			rc.merge(readNpmrc(readFile(path), h.value))
		}
		return rc.login(s.URL), nil
	case "netrc":
		return h.netrc(s.URL), nil
	case "pip":
		program := h.find("pip", "pip3")
		if program == "" {
			return "", errors.New("pip is not installed")
		}
		settings, err := h.pipConfig(ctx, program)
		if err != nil {
			return "", errors.New("'pip config list' failed")
		}
		return loginAmong(settings.indexes(), s.URL), nil
	case "uv":
		return loginAmong(h.uvIndexes(), s.URL), nil
	case "go":
		return h.goLogin(ctx, s.URL)
	case "cargo":
		return h.cargoToken(s.Name), nil
	}
	return "", errors.New("unknown credential " + s.Credential)
}

// netrc returns the login for a registry in the person's netrc, or "".
func (h Host) netrc(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	path := cmp.Or(h.value("NETRC"), filepath.Join(h.Home, ".netrc"))
	return readNetrc(readFile(path), u.Hostname())
}

// goLogin returns the login for an address in GOPROXY, or "".
func (h Host) goLogin(ctx context.Context, address string) (string, error) {
	program := h.find("go")
	if program == "" {
		return "", errors.New("go is not installed")
	}
	env, err := h.goEnv(ctx, program)
	if err != nil {
		return "", errors.New("'go env' failed")
	}
	var all []index
	for _, raw := range goProxies(env.GOPROXY) {
		all = append(all, index{raw: raw})
	}
	return loginAmong(all, address), nil
}

// isFieldValue reports whether a text can be the value of a header field.
func isFieldValue(s string) bool {
	return len(s) <= 16<<10 && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
