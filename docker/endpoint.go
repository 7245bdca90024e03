package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/ssh"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Endpoint is where an engine listens.
type Endpoint struct {
	Address string // "unix:///var/run/docker.sock", "tcp://host:port" or "ssh://user@host"
	Source  string // how it was found, for people: "--engine", "DOCKER_HOST", "context colima", …

	// CertDir holds ca.pem, cert.pem and key.pem for a tcp address; empty for
	// a plain connection.
	CertDir string
	// SkipVerify accepts any certificate of the engine. Only a docker context can
	// set it.
	SkipVerify bool

	// Ask lets ssh ask the person on the terminal of this process, if it has one. Otherwise ssh
	// fails when it would have to ask.
	Ask bool

	// Hides names, for people, the docker context that is not used because DOCKER_HOST is set; empty:
	// none.
	Hides string
}

// SocketPath returns the path of a Unix endpoint, or an empty string for another kind.
func (e Endpoint) SocketPath() string {
	path, ok := strings.CutPrefix(e.Address, "unix://")
	if !ok {
		return ""
	}
	return path
}

// Local reports whether the engine listens on a Unix socket, so that connections and answers are
// fast.
func (e Endpoint) Local() bool { return e.SocketPath() != "" }

// OverSSH reports whether the engine is reached by ssh.
func (e Endpoint) OverSSH() bool { return strings.HasPrefix(e.Address, "ssh://") }

// overSSH parses an ssh address.
func (e Endpoint) overSSH() (ssh.Target, error) {
	target, err := ssh.Parse(e.Address)
	if err != nil {
		err = fault.Wrap("", because(ErrEndpoint, "%s: %v", e.Source, err), fault.Hint(err))
	}
	return target, err
}

// MaxSocketPath is the number of bytes of a path that fit into a socket address on
// every supported system: 104 on some and 108 on others, less the final NUL.
const MaxSocketPath = 103

// check refuses addresses this program cannot talk to.
func (e Endpoint) check() error {
	u, err := url.Parse(e.Address)
	if err != nil {
		return fault.Wrap("", because(ErrEndpoint, "%s: not an address", e.Source), "use unix:///path, tcp://host:port or ssh://host")
	}
	if !strings.HasPrefix(e.Address, u.Scheme) {
		u.Scheme = "" // refuse capitals: only this parser treats them like small letters
	}
	switch u.Scheme {
	case "unix":
		path := e.SocketPath()
		if !filepath.IsAbs(path) {
			err = because(ErrEndpoint, "%s: %q is not an absolute path", e.Source, path)
		} else if len(path) > MaxSocketPath {
			err = because(ErrEndpoint, "%s: the socket's path is %d bytes long, at most %d are possible", e.Source, len(path), MaxSocketPath)
		}
		return fault.Wrap("", err, "use unix:///path")
	case "tcp", "http", "https":
		if u.Host == "" {
			err = because(ErrEndpoint, "%s: %q names no host", e.Source, e.Address)
		}
		return fault.Wrap("", err, "use tcp://host:port")
	case "ssh":
		_, err := e.overSSH()
		return err
	}
	return fault.Wrap("", because(ErrEndpoint, "%s: unknown kind of address %q", e.Source, e.Address),
		"use unix:///path, tcp://host:port or ssh://host")
}

// errNoSuchContext is returned for a context that has no metadata.
func errNoSuchContext(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return because(ErrEndpoint, "docker context %q does not exist", name)
	}
	return fmt.Errorf("docker context %q: %w", name, err)
}
