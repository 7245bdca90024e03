package docker

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Choice is the engine that a person has named. Its zero value names none.
//
// It is named by a docker context or by an address. An address begins with unix://, tcp://, http://,
// https:// or ssh://, or is the path of a socket, which may begin with "~/".
type Choice struct {
	Flag   string // by --engine: a name or an address; it comes before all else
	Config string // by engine.use in config.json: the same; it comes before the environment
	// Insecure allows a connection to another machine that is neither encrypted nor
	// authenticated.
	Insecure bool
}

// Resolve finds the engine: the chosen one, else, in the order of the docker command, that of
// DOCKER_HOST, DOCKER_CONTEXT, the current context of the docker configuration, and the sockets
// where engines usually listen. It only looks at files; Connect finds out whether an engine
// listens. When none of the sockets exists, Resolve returns the system's, so that Connect can report
// what is missing.
func (c Choice) Resolve(getenv func(string) string, home string) (Endpoint, error) {
	const op = "find the container engine"
	e, err := c.find(getenv, home)
	if err == nil {
		err = e.check()
	}
	if err == nil && !c.Insecure {
		err = e.checkPlain()
	}
	if err != nil {
		return Endpoint{}, fault.Wrap(op, err, "")
	}
	return e, nil
}

// Connect connects to the engine that Resolve finds.
func (c Choice) Connect(ctx context.Context, getenv func(string) string, home string) (*Client, error) {
	e, err := c.Resolve(getenv, home)
	if err != nil {
		return nil, err
	}
	return Connect(ctx, e)
}

// Where an engine was chosen, for people.
const (
	sourceFlag   = "--engine"
	sourceConfig = "engine.use in config.json"
)

// find is Resolve, before the address is checked.
func (c Choice) find(getenv func(string) string, home string) (Endpoint, error) {
	switch {
	case c.Flag != "":
		return named(c.Flag, sourceFlag, getenv, home)
	case c.Config != "":
		return named(c.Config, sourceConfig, getenv, home)
	}
	name, source, err := currentContext(getenv, home)
	if host := getenv("DOCKER_HOST"); host != "" {
		e := addressed(host, "DOCKER_HOST", getenv, home)
		if err == nil && name != "" && name != defaultContext {
			if hidden, err := contextEndpoint(configDir(getenv, home), name); err != nil || hidden.Address != host {
				e.Hides = source
			}
		}
		return e, nil
	}
	if err != nil {
		return Endpoint{}, fault.Wrap("", err, "repair the file or set DOCKER_HOST")
	}
	if name == "" || name == defaultContext {
		return known(getenv, home), nil
	}
	e, err := contextEndpoint(configDir(getenv, home), name)
	if err != nil {
		return Endpoint{}, fault.Wrap("", err, "choose another one with 'docker context use' or set DOCKER_HOST")
	}
	e.Source = source
	return e, nil
}

// defaultContext is what the docker command calls the engine of a person who has chosen none.
const defaultContext = "default"

// contextName matches what the docker command accepts as the name of a context.
var contextName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.+-]+$`)

// named finds the engine that a person named by source: a context or an address.
func named(name, source string, getenv func(string) string, home string) (Endpoint, error) {
	switch path, inHome := strings.CutPrefix(name, "~/"); {
	case inHome:
		return addressed("unix://"+filepath.Join(home, path), source, getenv, home), nil
	case strings.Contains(name, "://"):
		return addressed(name, source, getenv, home), nil
	case strings.Contains(name, "/"):
		return addressed("unix://"+name, source, getenv, home), nil
	case name == defaultContext:
		return known(getenv, home), nil
	case !contextName.MatchString(name):
		return Endpoint{}, fault.Wrap("", because(ErrEndpoint, "%s: %q is not the name of a docker context", source, name),
			"use the name of a docker context, unix:///path, tcp://host:port or ssh://host")
	}
	e, err := contextEndpoint(configDir(getenv, home), name)
	if err != nil {
		return Endpoint{}, fault.Wrap("", err, "'docker context ls' lists the contexts; or give "+source+" an address such as unix:///path")
	}
	e.Source = "context " + name + " (" + source + ")"
	return e, nil
}

// addressed returns the engine at an address, with the certificates that the environment names.
func addressed(address, source string, getenv func(string) string, home string) Endpoint {
	e := Endpoint{Address: address, Source: source}
	if strings.HasPrefix(address, "unix://") || e.OverSSH() || getenv("DOCKER_TLS_VERIFY") == "" {
		return e
	}
	if e.CertDir = getenv("DOCKER_CERT_PATH"); e.CertDir == "" {
		e.CertDir = configDir(getenv, home)
	}
	return e
}

// checkPlain refuses an unencrypted connection to another machine: who can read it sees every
// prompt, and who can change it controls the engine.
func (e Endpoint) checkPlain() error {
	u, err := url.Parse(e.Address)
	if err != nil || u.Scheme != "tcp" && u.Scheme != "http" || e.secure() {
		return nil // check refuses what is not an address
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "" || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fault.Wrap("", because(ErrEndpoint, "%s: %s is another machine, and the connection would be neither encrypted nor authenticated", e.Source, host),
		`use ssh://`+host+`, give the engine certificates, or set "engine": {"insecure": true} in config.json`)
}

// secure reports whether connections are encrypted.
func (e Endpoint) secure() bool {
	return e.CertDir != "" || e.SkipVerify || strings.HasPrefix(e.Address, "https://")
}
