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

// Target is an engine's socket on a machine that ssh reaches. Its address, such as
// ssh://user@host:port/path/of/socket, has the same meaning as for the docker command.
type Target struct {
	user, host, port string // user and port may be empty: then ssh's configuration decides
	socket           string // path on that machine; empty: the one that its docker command uses
	newer            bool   // the local ssh is OpenSSH 8.7 or later; see newer
}

// engineSocket is the path of an engine's socket where the address names none.
const engineSocket = "/var/run/docker.sock"

// maxSocketPath is the number of bytes of a path that fit into a socket address on every
// supported system, less the final NUL.
const maxSocketPath = 103

const addressForm = "use ssh://user@host:port/path; only the host is required"

// remoteSocket matches a socket's path without characters that are special to ssh or to a shell.
var remoteSocket = regexp.MustCompile(`^/[A-Za-z0-9._/@+=,-]+$`)

// Parse reads an address. It refuses one that ssh could mistake for an option or pass to a shell.
// Its errors have a cause and a hint but no operation: the caller says where the address is from.
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
		err = errors.New("the address contains a password, which everybody could read")
		next = "remove the password, and use a key: 'ssh-copy-id' installs yours on that machine"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		err = fmt.Errorf("%q has more than a host and a path", address)
	case t.host == "":
		err = fmt.Errorf("%q names no host", address)
	case !plainHost(t.host):
		err = fmt.Errorf("%q is not the name of a machine", t.host)
	case t.user != "" && !plainUser(t.user):
		err = fmt.Errorf("%q is not the name of a user", t.user)
	case t.port != "" && (portErr != nil || port == 0):
		err = fmt.Errorf("%q is not a port", t.port)
	case t.socket != "" && !remoteSocket.MatchString(t.socket):
		err = fmt.Errorf("the socket's path %q has characters other than letters, digits and ._/@+=,-", t.socket)
	case len(t.socket) > maxSocketPath:
		err = fmt.Errorf("the socket's path is %d bytes long, at most %d are possible", len(t.socket), maxSocketPath)
	}
	return t, fault.Wrap("", err, next)
}

// plainHost reports whether a name has no special meaning, neither to ssh nor to a shell: the
// person's configuration may insert it into a ProxyCommand.
func plainHost(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("'`\"$\\;&<>|(){}[],!*?#~/", c)
	})
}

// plainUser is plainHost for the name of a user, which may begin with a Windows domain.
func plainUser(name string) bool {
	return !strings.HasPrefix(name, "-") && !strings.HasSuffix(name, `\`) && !strings.ContainsFunc(name, func(c rune) bool {
		return c == ' ' || !unicode.IsPrint(c) || strings.ContainsRune("'`\";&<>|(){}", c)
	})
}

// String returns the machine as a person names it for ssh: user@host.
func (t Target) String() string {
	if t.user == "" {
		return t.host
	}
	return t.user + "@" + t.host
}

// command returns the command line with which a person reaches the machine.
func (t Target) command() string {
	if t.port != "" {
		return "ssh -p " + t.port + " " + t.String()
	}
	return "ssh " + t.String()
}

// options returns the options of every ssh, then more, then the machine. They override the person's
// configuration: ssh forwards no agent, display or ticket, runs no LocalCommand, and shares no
// connection that somebody else could end or refuse. ask says that ssh may ask the person.
func (t Target) options(ask bool, more ...string) []string {
	args := []string{"-T", "-a", "-x", "-k"} // no terminal, agent, display, ticket
	set := []string{
		"ControlMaster=no", "ControlPath=none", "PermitLocalCommand=no", "RemoteCommand=none", "Tunnel=no",
		"ServerAliveInterval=5", "ServerAliveCountMax=3", // a dead connection ends after 15 s
		"LogLevel=ERROR", // no banner, but the reason of a failure
	}
	if ask {
		set = append(set, "ConnectTimeout=20") // seconds, for the network alone: answering may take longer
	} else {
		set = append(set, "BatchMode=yes")
	}
	if t.newer { // the configuration may turn these on, which would cut ssh off from this process
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

// forwardArgs returns arguments that make ssh forward a socket of this machine, to which only this
// user can connect. ExitOnForwardFailure is off because the person's configuration may forward a
// port that another ssh already has.
func (t Target) forwardArgs(socket string, ask bool) []string {
	remote := t.socket
	if remote == "" {
		remote = engineSocket
	}
	return t.options(ask, "-N", "-o", "ExitOnForwardFailure=no", "-o", "StreamLocalBindMask=0177", "-L", socket+":"+remote)
}

// dialArgs returns arguments that make ssh run "docker system dial-stdio" on the machine, which
// connects its standard input and output with the engine.
func (t Target) dialArgs(ask bool) []string {
	more := []string{"-o", "ClearAllForwardings=yes"}
	if t.newer {
		more = append(more, "-o", "SessionType=default") // the configuration may say that ssh runs nothing
	}
	args := append(t.options(ask, more...), "docker")
	if t.socket != "" {
		args = append(args, "--host", "unix://"+t.socket)
	}
	return append(args, "system", "dial-stdio")
}
