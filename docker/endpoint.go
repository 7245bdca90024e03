package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Endpoint is where an engine listens.
type Endpoint struct {
	Address string // "unix:///var/run/docker.sock" or "tcp://host:port"
	Source  string // how it was found, for people: "DOCKER_HOST", "context colima", …

	// CertDir holds ca.pem, cert.pem and key.pem for a tcp address; empty for
	// a plain connection.
	CertDir string
	// SkipVerify accepts any certificate of the engine. Only a docker context can
	// set it.
	SkipVerify bool
}

// SocketPath returns the path of a Unix endpoint, or an empty string for another kind.
func (e Endpoint) SocketPath() string {
	path, ok := strings.CutPrefix(e.Address, "unix://")
	if !ok {
		return ""
	}
	return path
}

// Local reports whether the engine listens on a Unix socket, so that a connection to it
// costs nothing and an answer takes no time.
func (e Endpoint) Local() bool { return e.SocketPath() != "" }

const defaultSocket = "/var/run/docker.sock"

// ResolveEndpoint finds the engine in the order the docker command uses:
// DOCKER_HOST, DOCKER_CONTEXT, the current context of the docker
// configuration, and then the sockets where engines usually listen: the
// system's, a rootless engine's, Docker Desktop's, Colima's. It only looks at
// files; Connect finds out whether an engine listens. When none of the sockets
// exists, it returns the system's, so that Connect can say what is missing.
func ResolveEndpoint(getenv func(string) string, home string) (Endpoint, error) {
	const op = "find the Docker engine"
	if host := getenv("DOCKER_HOST"); host != "" {
		e := Endpoint{Address: host, Source: "DOCKER_HOST"}
		if verify := getenv("DOCKER_TLS_VERIFY"); verify != "" {
			e.CertDir = getenv("DOCKER_CERT_PATH")
			if e.CertDir == "" {
				e.CertDir = configDir(getenv, home)
			}
		}
		return checkEndpoint(op, e)
	}
	name, source, err := currentContext(getenv, home)
	if err != nil {
		return Endpoint{}, fault.Wrap(op, err, "repair the file or set DOCKER_HOST")
	}
	if name != "" && name != "default" {
		e, err := contextEndpoint(configDir(getenv, home), name)
		if err != nil {
			return Endpoint{}, fault.Wrap(op, err, "choose another one with 'docker context use' or set DOCKER_HOST")
		}
		e.Source = source
		return checkEndpoint(op, e)
	}
	for _, s := range wellKnownSockets(getenv, home) {
		if isSocket(s.path) {
			return Endpoint{Address: "unix://" + s.path, Source: s.name}, nil
		}
	}
	return Endpoint{Address: "unix://" + defaultSocket, Source: "the system's socket"}, nil
}

type namedSocket struct{ path, name string }

// wellKnownSockets lists where engines listen when nothing is configured.
func wellKnownSockets(getenv func(string) string, home string) []namedSocket {
	list := []namedSocket{{defaultSocket, "the system's socket"}}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		list = append(list, namedSocket{filepath.Join(dir, "docker.sock"), "rootless engine"})
	}
	list = append(list, namedSocket{
		"/run/user/" + strconv.Itoa(os.Getuid()) + "/docker.sock", "rootless engine",
	})
	if home == "" {
		return list
	}
	return append(list,
		namedSocket{filepath.Join(home, ".docker/run/docker.sock"), "Docker Desktop"},
		namedSocket{filepath.Join(home, ".docker/desktop/docker.sock"), "Docker Desktop"},
		namedSocket{filepath.Join(home, ".colima/default/docker.sock"), "Colima"},
		namedSocket{filepath.Join(home, ".colima/docker.sock"), "Colima"},
		namedSocket{filepath.Join(home, ".config/colima/default/docker.sock"), "Colima"},
	)
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// MaxSocketPath is the number of bytes of a path that fit into a socket address on
// every supported system: 104 on some and 108 on others, less the final NUL.
const MaxSocketPath = 103

// checkEndpoint refuses addresses this program cannot talk to.
func checkEndpoint(op string, e Endpoint) (Endpoint, error) {
	u, err := url.Parse(e.Address)
	if err != nil {
		return Endpoint{}, fault.Wrap(op, because(ErrEndpoint, "%s: not an address", e.Source), "use unix:///path or tcp://host:port")
	}
	switch u.Scheme {
	case "unix":
		path := e.SocketPath()
		if !filepath.IsAbs(path) {
			err = because(ErrEndpoint, "%s: %q is not an absolute path", e.Source, path)
		} else if len(path) > MaxSocketPath {
			err = because(ErrEndpoint, "%s: socket path is %d bytes long, %d are possible", e.Source, len(path), MaxSocketPath)
		}
		return e, fault.Wrap(op, err, "use unix:///path")
	case "tcp", "http", "https":
		if u.Host == "" {
			err = because(ErrEndpoint, "%s: %q names no host", e.Source, e.Address)
		}
		return e, fault.Wrap(op, err, "use tcp://host:port")
	case "ssh":
		return Endpoint{}, fault.Wrap(op, because(ErrEndpoint, "%s: ssh addresses are not supported", e.Source),
			"forward the engine's socket with 'ssh -L' and set DOCKER_HOST to it")
	}
	return Endpoint{}, fault.Wrap(op, because(ErrEndpoint, "%s: unknown kind of address %q", e.Source, e.Address),
		"use unix:///path or tcp://host:port")
}

// errNoSuchContext is returned for a context that has no metadata.
func errNoSuchContext(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return because(ErrEndpoint, "docker context %q does not exist", name)
	}
	return fmt.Errorf("docker context %q: %w", name, err)
}
