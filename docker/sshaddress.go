package docker

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// sshTarget is an engine on a machine that ssh reaches, as an address such as
// ssh://user@host:port/path/of/socket names it. It means what the docker command takes it for.
type sshTarget struct {
	user, host, port string // the first and last are empty where ssh's configuration decides
	socket           string // the engine's path there; empty: where the docker command there finds it
}

const sshForm = "use ssh://user@host:port/path, of which only the host is needed"

// remoteSocket matches the path of a socket whose name means nothing else to ssh, nor to a shell.
var remoteSocket = regexp.MustCompile(`^/[A-Za-z0-9._/@+=,-]+$`)

// OverSSH reports whether ssh leads to the engine.
func (e Endpoint) OverSSH() bool { return strings.HasPrefix(e.Address, "ssh://") }

// parseSSH reads an address. It refuses what ssh could take for an option, or hand to a shell.
func parseSSH(e Endpoint) (sshTarget, error) {
	u, err := url.Parse(e.Address)
	if err != nil {
		return sshTarget{}, fault.Wrap("", because(ErrEndpoint, "%s: not an address", e.Source), sshForm)
	}
	t := sshTarget{user: u.User.Username(), host: u.Hostname(), port: u.Port(), socket: u.Path}
	if strings.Trim(t.socket, "/") == "" {
		t.socket = ""
	}
	_, password := u.User.Password()
	port, portErr := strconv.ParseUint(t.port, 10, 16)
	next := sshForm
	switch {
	case password:
		err = because(ErrEndpoint, "%s: the address holds a password, which everybody could read", e.Source)
		next = "leave it out, and give that machine a key with 'ssh-copy-id'"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		err = because(ErrEndpoint, "%s: %q has more than a host and a path", e.Source, e.Address)
	case t.host == "":
		err = because(ErrEndpoint, "%s: %q names no host", e.Source, e.Address)
	case !plainHost(t.host):
		err = because(ErrEndpoint, "%s: %q is no name of a machine", e.Source, t.host)
	case t.user != "" && !plainUser(t.user):
		err = because(ErrEndpoint, "%s: %q is no name of a user", e.Source, t.user)
	case t.port != "" && (portErr != nil || port == 0):
		err = because(ErrEndpoint, "%s: %q is no port", e.Source, t.port)
	case t.socket != "" && !remoteSocket.MatchString(t.socket):
		err = because(ErrEndpoint, "%s: the socket's path %q has characters other than letters, digits and ._/@+=,-", e.Source, t.socket)
	case len(t.socket) > MaxSocketPath:
		err = because(ErrEndpoint, "%s: socket path is %d bytes long, %d are possible", e.Source, len(t.socket), MaxSocketPath)
	}
	return t, fault.Wrap("", err, next)
}

// plainHost reports whether a name is nothing but a host for ssh and for what the person's
// configuration does with it, such as a ProxyCommand that a shell runs.
func plainHost(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}[],!*?#~/", c)
	})
}

// plainUser is plainHost for the name of a user, which may have the domain of a Windows machine
// before it.
func plainUser(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, `\`) && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune("'`\";&<>|(){}", c)
	})
}

// String is the machine as a person names it for ssh.
func (t sshTarget) String() string {
	if t.user == "" {
		return t.host
	}
	return t.user + "@" + t.host
}

// command is what a person types to reach the machine.
func (t sshTarget) command() string {
	if t.port != "" {
		return "ssh -p " + t.port + " " + t.String()
	}
	return "ssh " + t.String()
}

// options are those of every ssh that is started, and the machine. They come before what the
// configuration says: no agent, display or ticket is forwarded, no LocalCommand is run, and no
// connection is shared that somebody else could end or refuse. ask says that ssh may ask the person.
func (t sshTarget) options(ask bool, more ...string) []string {
	args := []string{"-T", "-a", "-x", "-k"} // no terminal; no agent, display or ticket is forwarded
	set := []string{
		"ControlMaster=no", "ControlPath=none", "PermitLocalCommand=no", "RemoteCommand=none", "Tunnel=no",
		"ServerAliveInterval=5", "ServerAliveCountMax=3", // a dead connection ends after 15 s
		"LogLevel=ERROR", // no banner, and never less than the reason of a failure
	}
	if ask {
		set = append(set, "ConnectTimeout=20") // what takes longer is the person
	} else {
		set = append(set, "BatchMode=yes")
	}
	for _, o := range set {
		args = append(args, "-o", o)
	}
	args = append(args, more...)
	if t.user != "" {
		args = append(args, "-l", t.user)
	}
	if t.port != "" {
		args = append(args, "-p", t.port)
	}
	return append(args, "--", t.host)
}

// forwardArgs make ssh forward a socket of this machine, which only this user can connect to.
// Where the person's configuration forwards more, another ssh may have taken that, which is no
// reason to end.
func (t sshTarget) forwardArgs(socket string, ask bool) []string {
	there := t.socket
	if there == "" {
		there = defaultSocket
	}
	return t.options(ask, "-N", "-o", "ExitOnForwardFailure=no", "-o", "StreamLocalBindMask=0177", "-L", socket+":"+there)
}

// dialArgs make ssh run a program of docker's there, which passes one connection on.
func (t sshTarget) dialArgs(ask bool) []string {
	args := append(t.options(ask, "-o", "ClearAllForwardings=yes"), "docker")
	if t.socket != "" {
		args = append(args, "--host", "unix://"+t.socket)
	}
	return append(args, "system", "dial-stdio")
}
