package gitauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// OpenSSH makes the gate for a call to an SSH remote. dir is a directory of the call that no sandbox
// may read. The gate ends with ctx, and must be closed.
//
// Git in the sandbox gets a command in place of ssh that only connects to the gate; the gate runs
// ssh on the host. In the sandbox, ssh could not reach an SSH agent, because the sandbox runtime
// lets a program use either all sockets of the machine, including the container engine's, or none.
// With an agent's socket in the sandbox, even a restricted one, every hook of the repository could
// log in at the host and run commands.
func OpenSSH(ctx context.Context, dir string, call Call, login SSHLogin) (*Gate, error) {
	if call.Remote.Scheme != "ssh" {
		return nil, errScheme
	}
	g, ctx, err := open(ctx, dir, call)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Gate, error) {
		g.stop()
		_ = g.listen.Close()
		return nil, err
	}
	knownHosts := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(knownHosts, knownHostsFile(login.keys), 0o400); err != nil {
		return fail(fault.Wrap("prepare a git call", err, "check that you can write to "+dir))
	}
	socket, err := listen(filepath.Join(dir, "agent.sock"))
	if err != nil {
		_ = os.Remove(knownHosts)
		return fail(err)
	}
	keys := &filter{login: login, refuse: g.refuse}
	ended := make(chan struct{}) // closed when the agent has ended
	go func() {
		defer close(ended)
		keys.serve(ctx, socket)
	}()
	argv := sshCommand(call, login, knownHosts, socket.Addr().String())
	g.carry = func(ctx context.Context, conn net.Conn) { g.runSSH(ctx, conn, argv) }
	g.release = func() {
		<-ended
		_ = os.Remove(knownHosts)
	}
	g.env["GIT_SSH_COMMAND"], g.env["GIT_SSH_VARIANT"] = connector(call.Remote.Host, call.Remote.IP.Is6(), call.Remote.Port), "ssh"
	g.serve(ctx)
	return g, nil
}

// connector returns the shell code that git runs in the sandbox in place of ssh. It ignores ssh's
// arguments, and connects to the gate through the runtime's proxy. It cannot close the connection at
// the end of git's input, because the runtime would then cut off the answer. Instead it sends a flush
// packet: a server that waits for more requests ends the conversation then, and a server that has got
// everything ignores it. The shell itself keeps neither end open, so that git sees when the
// connection ends.
func connector(host string, ip6 bool, port int) string {
	if ip6 {
		host = "[" + host + "]"
	}
	return `f() { p=${HTTP_PROXY#http://}; p=${p%/}; a=${p##*@}; ` +
		`w=$(printf %s "${p%@*}" | sed 's/%2B/+/g;s/%2F/\//g;s/%3D/=/g'); ` +
		`exec 3<&0 4>&1 </dev/null >/dev/null; ` +
		`{ exec 4>&-; cat <&3; printf 0000; } | socat -t0 -,ignoreeof "PROXY:${a%:*}:` + host + ":" + strconv.Itoa(port) +
		`,proxyport=${a##*:},proxyauth=$w" 3<&- >&4 & exec 3<&- 4>&-; wait; }; f`
}

// sshCommand returns the command line of ssh for a call. This ssh reads no configuration. The host
// must prove that it has one of the known keys. Only the agent of the call is asked to sign, nothing
// is forwarded, nobody is asked, and only git's program for the repository is run.
func sshCommand(call Call, login SSHLogin, knownHosts, socket string) []string {
	c := login.config
	options := []string{
		"HostKeyAlias=" + hostAlias, "StrictHostKeyChecking=yes", "UserKnownHostsFile=" + quoteOption(knownHosts), "GlobalKnownHostsFile=/dev/null",
		"HostKeyAlgorithms=" + keyAlgorithms(login.keys), "UpdateHostKeys=no", "VerifyHostKeyDNS=no", "CheckHostIP=no",
		"IdentityAgent=" + quoteOption(socket), "IdentitiesOnly=no", "IdentityFile=none", "AddKeysToAgent=no",
		"PreferredAuthentications=publickey", "PubkeyAuthentication=yes", "PasswordAuthentication=no", "KbdInteractiveAuthentication=no",
		"HostbasedAuthentication=no", "GSSAPIAuthentication=no", "BatchMode=yes", "NumberOfPasswordPrompts=0",
		"ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "Tunnel=no", "ControlMaster=no", "ControlPath=none",
		"PermitLocalCommand=no", "CanonicalizeHostname=no", "ProxyCommand=none", "RequestTTY=no", "EscapeChar=none",
		"ConnectTimeout=10", "ServerAliveInterval=15", "LogLevel=ERROR",
	}
	if c.revoked != "" {
		options = append(options, "RevokedHostKeys="+quoteOption(c.revoked))
	}
	if !call.Push {
		options = append(options, "SetEnv=GIT_PROTOCOL=version=2") // a host that does not support it uses version 0
	}
	argv := []string{"ssh", "-F", "/dev/null", "-T"}
	for _, o := range options {
		argv = append(argv, "-o", o)
	}
	return append(argv, "-p", strconv.Itoa(c.port), "-l", c.user, "--", c.host, call.service()+" "+quoteWord(sshPath(call)))
}

// sshPath returns the repository's path as git would send it. The path in "ssh://host/path" begins
// with the slash, except before a "~".
func sshPath(call Call) string {
	if strings.Contains(call.Remote.String(), "://") {
		path := decoded(call.Remote)
		if !strings.HasPrefix(path, "~") {
			path = "/" + path
		}
		return path
	}
	return repository(call.Remote)
}

// quoteOption quotes a path as the value of an option of ssh, in which "%" begins a token.
func quoteOption(path string) string {
	return `"` + strings.ReplaceAll(path, "%", "%%") + `"`
}

// quoteWord quotes a word for the host's shell as git does.
func quoteWord(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(s) + "'"
}

// runSSH runs ssh on the host, and connects it with conn. If ssh fails before the remote has
// answered, git gets the last line of ssh's messages, in git's protocol.
func (g *Gate) runSSH(ctx context.Context, conn net.Conn, argv []string) {
	defer conn.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = string(filepath.Separator)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	complaint := &bounded.Tail{Most: 2048}
	cmd.Stderr = complaint
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	err := errors.Join(inErr, outErr)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.refuse(fault.Wrap("run ssh", err, "install the OpenSSH client"))
		return
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(stdin, conn) // until either side ends
		_ = stdin.Close()
	})
	said, _ := io.Copy(conn, stdout) // everything, however slowly git reads
	_ = stdout.Close()               // if git has not read everything, ssh need not write the rest
	err = cmd.Wait()
	if err != nil && ctx.Err() == nil {
		why := lastLine(complaint.String())
		var exit *exec.ExitError
		if why == "" || !errors.As(err, &exit) {
			why = err.Error()
		}
		g.refuse(fault.New("try 'ssh -T -p "+strconv.Itoa(g.call.Remote.Port)+" "+g.call.Remote.Host+"' yourself", "ssh to %s: %.300q", g.call.Remote.Host, why))
		if said == 0 {
			message := fmt.Sprintf("ERR %.300s", why)
			_, _ = fmt.Fprintf(conn, "%04x%s", len(message)+4, message)
		}
	}
	_ = conn.Close() // ends the copying
	copying.Wait()
}

// lastLine returns the last line of a text that is not empty.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
