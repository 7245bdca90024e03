package docker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/ssh"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const (
	installHint = "install docker.io or podman, or name a running engine with --engine"
	startHint   = "start it, for example with 'sudo systemctl start docker', or set DOCKER_HOST"
	groupHint   = "add yourself to the group docker ('sudo usermod -aG docker $USER') and log in again"
	refuseHint  = "see the engine's log, for example with 'journalctl -u docker'"
)

// dialer opens connections to one engine.
type dialer struct {
	network, address string
	tls              *tls.Config // nil for a plain connection
	ssh              *ssh.Tunnel // nil without ssh
}

func newDialer(e Endpoint) (dialer, error) {
	if path := e.SocketPath(); path != "" {
		return dialer{network: "unix", address: path}, nil
	}
	if e.OverSSH() {
		target, err := e.overSSH()
		if err != nil {
			return dialer{}, err
		}
		t, err := ssh.New(target, ssh.Options{Ask: e.Ask, Explain: sshFailure})
		return dialer{ssh: t}, err
	}
	_, host, ok := strings.Cut(e.Address, "://")
	if !ok {
		return dialer{}, because(ErrEndpoint, "%q is not an address", e.Address)
	}
	d := dialer{network: "tcp", address: strings.TrimRight(host, "/")}
	secure := e.secure()
	if _, _, err := net.SplitHostPort(d.address); err != nil {
		port := "2375"
		if secure {
			port = "2376"
		}
		d.address = net.JoinHostPort(d.address, port)
	}
	if !secure {
		return d, nil
	}
	var err error
	d.tls, err = tlsConfig(e, d.address)
	return d, err
}

// tlsConfig reads the certificates of an endpoint. An incomplete directory is an
// error, because the library would turn verification off instead.
func tlsConfig(e Endpoint, address string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	//nolint:gosec // a person chose SkipTLSVerify in the docker context
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: e.SkipVerify}
	if e.CertDir == "" {
		return config, nil
	}
	ca, err := os.ReadFile(filepath.Join(e.CertDir, "ca.pem"))
	if err == nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			return nil, because(ErrEndpoint, "%s contains no certificate", filepath.Join(e.CertDir, "ca.pem"))
		}
	} else if !errors.Is(err, fs.ErrNotExist) || !e.SkipVerify {
		return nil, because(ErrEndpoint, "%v", err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(e.CertDir, "cert.pem"), filepath.Join(e.CertDir, "key.pem"))
	if err != nil {
		return nil, because(ErrEndpoint, "%v", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// keepAlive makes the kernel probe idle TCP connections: it finds a dead one within half a minute,
// and devices on the way do not drop a living one.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// dialContext opens a plain connection. It ignores the network and address from the
// HTTP transport, because they name a placeholder host.
func (d dialer) dialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	if d.ssh != nil {
		return d.ssh.Dial(ctx)
	}
	nd := net.Dialer{KeepAliveConfig: keepAlive}
	return nd.DialContext(ctx, d.network, d.address)
}

// open opens a connection ready for HTTP, with TLS if the engine requires it.
func (d dialer) open(ctx context.Context) (net.Conn, error) {
	conn, err := d.dialContext(ctx, "", "")
	if err != nil || d.tls == nil {
		return conn, err
	}
	secure := tls.Client(conn, d.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// boundDialer is a dialer for the library, bound to one context.
type boundDialer struct {
	ctx context.Context
	d   dialer
}

func (b boundDialer) Dial(_, _ string) (net.Conn, error) { return b.d.open(b.ctx) }

// probeLimit is how long opening a connection may take.
const probeLimit = 5 * time.Second

// patience returns how much longer than probeLimit opening a connection may take: ssh has to log in.
func (d dialer) patience() time.Duration {
	if d.ssh == nil {
		return 0
	}
	return d.ssh.Patience()
}

// close ends the processes of ssh.
func (d dialer) close() {
	if d.ssh != nil {
		d.ssh.Close()
	}
}

// fallBack gives each connection an ssh of its own from now on. It returns false, and changes
// nothing, if no ssh forwards a socket now.
func (d dialer) fallBack() bool { return d.ssh != nil && d.ssh.FallBack() }

// probe opens a connection and closes it, to learn whether and why that fails.
func (d dialer) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit+d.patience())
	defer cancel()
	conn, err := d.open(ctx)
	if err == nil {
		return conn.Close()
	}
	if d.ssh != nil {
		return err // it has the cause and a hint
	}
	return diagnose("open "+d.address, err, engineInstalled())
}

// diagnose turns a failed connection attempt into an error with a remedy.
func diagnose(op string, err error, installed bool) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &fault.Error{Op: op, Err: ErrPermission, Next: groupHint}
	case errors.Is(err, fs.ErrNotExist) && !installed:
		return &fault.Error{Op: op, Err: ErrNoEngine, Next: installHint}
	case errors.Is(err, fs.ErrNotExist):
		return &fault.Error{Op: op, Err: because(ErrEngineNotRunning, "the socket does not exist"), Next: startHint}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &fault.Error{Op: op, Err: because(ErrEngineNotRunning, "nobody listens"), Next: startHint}
	case errors.Is(err, context.Canceled):
		return err
	}
	var wrapper *net.OpError
	if errors.As(err, &wrapper) {
		err = wrapper.Err
	}
	return &fault.Error{Op: op, Err: fmt.Errorf("%w: %w", ErrEngineRefuses, err), Next: refuseHint}
}

// engineInstalled reports whether this machine has an engine that could be
// started.
func engineInstalled() bool {
	for _, name := range []string{"dockerd", "docker", "podman", "/usr/sbin/dockerd", "/usr/local/bin/dockerd"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// advise replaces the remedy of an error when a person chose the address, because the
// address may be wrong.
func (e Endpoint) advise(err error) error {
	var found *fault.Error
	if !errors.Is(err, ErrEngineNotRunning) && !errors.Is(err, ErrNoEngine) || !errors.As(err, &found) {
		return err
	}
	next := found.Next
	switch {
	case e.Source == "DOCKER_HOST":
		next = "start the engine there, or unset DOCKER_HOST, which names this address; a running daemon keeps it until 'ironcurtain-mux stop'"
	case strings.Contains(e.Source, "context"):
		next = "start the engine of " + e.Source + ", or choose another context"
	case e.Source == sourceFlag, e.Source == sourceConfig:
		next = "start the engine there, or name another one with " + e.Source
	case e.Source == podman:
		next = "start it with 'sudo systemctl start podman.socket', or set DOCKER_HOST"
	case e.Source == rootlessPodman:
		next = "start it with 'systemctl --user start podman.socket', or set DOCKER_HOST"
	case e.Source == podmanMachine:
		next = "start it with 'podman machine start', or set DOCKER_HOST"
	}
	return &fault.Error{Op: found.Op, Err: found.Err, Next: next}
}
