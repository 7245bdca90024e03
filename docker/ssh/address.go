package ssh

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Target is an engine's socket on a machine that ssh reaches, as an address such as
// ssh://user@host:port/path/of/socket names it. It means what the docker command takes it for.
type Target struct {
	user, host, port string // the first and last are empty where ssh's configuration decides
	socket           string // the engine's path there; empty: where the docker command there finds it
	newer            bool   // ssh is OpenSSH's of version 8.7 or later; see newer
}

// engineSocket is the path of an engine's socket where the address names none.
const engineSocket = "/var/run/docker.sock"

// maxSocketPath is the number of bytes of a path that fit into a socket address on every
// supported system, less the final NUL.
const maxSocketPath = 103

const addressForm = "use ssh://user@host:port/path, of which only the host is needed"

// remoteSocket matches the path of a socket whose name means nothing else to ssh, nor to a shell.
var remoteSocket = regexp.MustCompile(`^/[A-Za-z0-9._/@+=,-]+$`)

// Parse reads an address. It refuses what ssh could take for an option, or hand to a shell. Its
// errors are only causes, with what to do: the caller says whose address it is.
func Parse(address string) (Target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Target{}, fault.New(addressForm, "not an address")
	}
	t := Target{user: u.User.Username(), host: u.Hostname(), port: u.Port(), socket: u.Path}
	if strings.Trim(t.socket, "/") == "" {
		t.socket = ""
	}
	_, password := u.User.Password()
	port, portErr := strconv.ParseUint(t.port, 10, 16)
	next := addressForm
	switch {
	case u.Scheme != "ssh":
		err = fmt.Errorf("%q does not begin with ssh://", address)
	case password:
		err = errors.New("the address holds a password, which everybody could read")
		next = "leave it out, and give that machine a key with 'ssh-copy-id'"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		err = fmt.Errorf("%q has more than a host and a path", address)
	case t.host == "":
		err = fmt.Errorf("%q names no host", address)
	case !plainHost(t.host):
		err = fmt.Errorf("%q is no name of a machine", t.host)
	case t.user != "" && !plainUser(t.user):
		err = fmt.Errorf("%q is no name of a user", t.user)
	case t.port != "" && (portErr != nil || port == 0):
		err = fmt.Errorf("%q is no port", t.port)
	case t.socket != "" && !remoteSocket.MatchString(t.socket):
		err = fmt.Errorf("the socket's path %q has characters other than letters, digits and ._/@+=,-", t.socket)
	case len(t.socket) > maxSocketPath:
		err = fmt.Errorf("socket path is %d bytes long, %d are possible", len(t.socket), maxSocketPath)
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
		return c == ' ' || !unicode.IsPrint(c) || strings.ContainsRune("'`\";&<>|(){}", c)
	})
}

// String is the machine as a person names it for ssh.
func (t Target) String() string {
	if t.user == "" {
		return t.host
	}
	return t.user + "@" + t.host
}

// command is what a person types to reach the machine.
func (t Target) command() string {
	if t.port != "" {
		return "ssh -p " + t.port + " " + t.String()
	}
	return "ssh " + t.String()
}

// options are those of every ssh that is started, and the machine. They come before what the
// configuration says: no agent, display or ticket is forwarded, no LocalCommand is run, and no
// connection is shared that somebody else could end or refuse. ask says that ssh may ask the person.
func (t Target) options(ask bool, more ...string) []string {
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
	if t.newer { // what the configuration can say since then would part us from ssh
		set = append(set, "ForkAfterAuthentication=no", "StdinNull=no")
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
func (t Target) forwardArgs(socket string, ask bool) []string {
	there := t.socket
	if there == "" {
		there = engineSocket
	}
	return t.options(ask, "-N", "-o", "ExitOnForwardFailure=no", "-o", "StreamLocalBindMask=0177", "-L", socket+":"+there)
}

// dialArgs make ssh run a program of docker's there, which passes one connection on.
func (t Target) dialArgs(ask bool) []string {
	more := []string{"-o", "ClearAllForwardings=yes"}
	if t.newer {
		more = append(more, "-o", "SessionType=default") // -N says otherwise where nothing is run
	}
	args := append(t.options(ask, more...), "docker")
	if t.socket != "" {
		args = append(args, "--host", "unix://"+t.socket)
	}
	return append(args, "system", "dial-stdio")
}
