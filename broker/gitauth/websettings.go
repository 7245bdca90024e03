package gitauth

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// setting returns a value in the person's git configuration for requests to a URL. set is false if
// there is none.
func setting(ctx context.Context, name, url string) (value string, set bool, err error) {
	out, err := ask(ctx, "", "git", "config", "--type=path", "--get-urlmatch", name, url)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", false, nil
	}
	if err != nil {
		return "", false, fault.Wrap("read git's configuration", err, "see what 'git config --list' says outside of a repository")
	}
	return strings.TrimSuffix(string(out), "\n"), true, nil
}

// personsAuthorities returns the certificate authorities that the person's git trusts for a URL. nil
// means this machine's.
func personsAuthorities(ctx context.Context, url string) (*x509.CertPool, error) {
	file := os.Getenv("GIT_SSL_CAINFO")
	if file == "" {
		var err error
		if file, _, err = setting(ctx, "http.sslCAInfo", url); err != nil {
			return nil, err
		}
	}
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Clean(file))
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(data) {
		err = errors.New(file + " contains no certificate")
	}
	if err != nil {
		return nil, fault.Wrap("read the certificate authorities that git is configured to trust", err, "fix http.sslCAInfo in git's configuration")
	}
	return pool, nil
}

// personsProxy returns the proxy through which the person's git would reach a URL: the one in git's
// configuration, or in the environment.
func personsProxy(ctx context.Context, remote string) (func(*http.Request) (*url.URL, error), error) {
	value, set, err := setting(ctx, "http.proxy", remote)
	switch {
	case err != nil:
		return nil, err
	case !set:
		return http.ProxyFromEnvironment, nil
	case value == "": // none, whatever the environment says
		return nil, nil
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	proxy, err := url.Parse(value)
	if err != nil || proxy.Host == "" { // err could show a password
		return nil, fault.New("fix http.proxy in git's configuration", "the proxy that git is configured to use is not a URL")
	}
	return http.ProxyURL(proxy), nil
}
