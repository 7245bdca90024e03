package gitauth

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// ownSSH is the command that git on the host runs as ssh. It uses the person's configuration, but
// connects only to hosts whose keys are in their known_hosts, asks nobody, and shares no connection
// that would outlive git.
const ownSSH = "ssh -o StrictHostKeyChecking=yes -o BatchMode=yes -o UpdateHostKeys=no -o ConnectTimeout=10 -o ServerAliveInterval=15 " +
	"-o ControlMaster=no -o ControlPath=none -o ClearAllForwardings=yes -o ForwardAgent=no -o PermitLocalCommand=no -o LogLevel=ERROR"

// HostEnvironment returns the environment in which git on the host reaches a remote that the person
// has named, as the person: git uses their configuration, and asks nobody. It does not use a command
// that the person has configured in place of ssh.
func HostEnvironment(remote gitx.Address) []string {
	protocols := "https:ssh" // the person's configuration may rewrite one to the other
	if remote.Scheme == "http" {
		protocols += ":http"
	}
	env := slices.DeleteFunc(personsEnvironment(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_TEMPLATE_DIR", "GIT_QUARANTINE_PATH"}, name)
	})
	return append(env, "GIT_SSH_COMMAND="+ownSSH, "GIT_SSH_VARIANT=ssh", "GIT_ALLOW_PROTOCOL="+protocols)
}

// Lend lends the login to one run of git on the host: it returns a setting, and a file that git must
// inherit as descriptor 3. The secret is neither in the arguments nor in the environment. Git sends
// it only to the host of the remote, even if that host redirects git.
func (c Credential) Lend(remote gitx.Address) (setting string, login *os.File, err error) {
	from, to, err := os.Pipe()
	if err != nil {
		return "", nil, err
	}
	_, err = to.WriteString("username=" + c.User + "\npassword=" + c.reveal() + "\n") // fits into a pipe's buffer
	if err = errors.Join(err, to.Close()); err != nil {
		return "", nil, errors.Join(err, from.Close())
	}
	return "credential.https://" + hostPort(remote) + `.helper=!f() { test "$1" != get || cat <&3; }; f`, from, nil
}
