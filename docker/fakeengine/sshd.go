package fakeengine

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SSH describes the machine on which an engine runs that is reached by ssh. The zero value has the
// usual settings of an ssh server, except for Sessions.
type SSH struct {
	NoForwarding bool   // the server forwards no sockets
	Sessions     int    // the most programs and shells of one connection; 0: 2
	Stranger     bool   // the person has never connected: they do not know the machine's key
	NoKey        bool   // the machine does not know the person's key
	Config       string // more lines of the person's configuration
}

// StartSSH starts an engine that is reached by ssh: through a real ssh server on a port of this
// machine. The line is the connection to that server. Commands has the person's ssh; put it first in
// PATH.
func StartSSH(t testing.TB, engine string, f Faults, s SSH) *Engine {
	t.Helper()
	e := newEngine(t, engine, f)
	inner := e.listen("unix", e.inner())
	name := person(t)
	server := e.serveSSH(s)
	e.behind = func() (net.Conn, error) { return new(net.Dialer).DialContext(e.life, "tcp", server) }
	outer := e.listen("tcp", "127.0.0.1:0")
	e.configureSSH(s, outer.Addr().(*net.TCPAddr).Port)
	e.address = fmt.Sprintf("ssh://%s@%s%s", name, outer.Addr(), e.inner())
	e.run(outer, inner)
	return e
}

// Commands returns a directory with the program ssh as the person has configured it. It is empty for
// an engine without ssh.
func (e *Engine) Commands() string { return e.commands }

// person returns the name of the user who runs the tests.
func person(t testing.TB) string {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return me.Username
}

// path returns the path of a file of the machine's or the person's.
func (e *Engine) path(name string) string { return filepath.Join(e.dir, name) }

func (e *Engine) write(name, text string, mode os.FileMode) {
	e.t.Helper()
	if err := os.WriteFile(e.path(name), []byte(text), mode); err != nil {
		e.t.Fatal(err)
	}
}

// key makes a key and returns its public half.
func (e *Engine) key(name string) string {
	e.t.Helper()
	made := exec.CommandContext(e.life, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", e.path(name))
	if out, err := made.CombinedOutput(); err != nil {
		e.t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(e.path(name) + ".pub")
	if err != nil {
		e.t.Fatal(err)
	}
	return string(public)
}

// configureSSH writes the person's ssh, for a machine at a port.
func (e *Engine) configureSSH(s SSH, port int) {
	e.t.Helper()
	known, strict := "", "ask"
	if !s.Stranger {
		machine, err := os.ReadFile(e.path("machine.pub"))
		if err != nil {
			e.t.Fatal(err)
		}
		known, strict = fmt.Sprintf("[127.0.0.1]:%d %s", port, machine), "yes"
	}
	e.write("known", known, 0o600)
	e.write("ssh.conf", fmt.Sprintf("IdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s\nGlobalKnownHostsFile /dev/null\n"+
		"StrictHostKeyChecking %s\nForwardAgent yes\nControlMaster auto\nControlPath %s\n%s",
		e.path("person"), e.path("known"), strict, e.path("master"), s.Config), 0o600)
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		e.t.Fatal(err)
	}
	e.commands = e.path("bin")
	if err := os.Mkdir(e.commands, 0o700); err != nil {
		e.t.Fatal(err)
	}
	e.write("bin/ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, e.path("ssh.conf")), 0o700)
}

// serveSSH runs the machine's server until the engine ends, and returns its address.
func (e *Engine) serveSSH(s SSH) string {
	e.t.Helper()
	if os.Getuid() == 0 { // then sshd requires this directory
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { //nolint:gosec // as the system makes it
			e.t.Fatal(err)
		}
	}
	e.key("machine")
	person := e.key("person")
	if s.NoKey {
		person = ""
	}
	e.write("authorized", person, 0o600)
	forwarding := "yes"
	if s.NoForwarding {
		forwarding = "no"
	}
	free := e.listen("tcp", "127.0.0.1:0")
	address := free.Addr().String()
	free.Close()
	e.write("sshd.conf", fmt.Sprintf("ListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nUseDNS no\n"+
		"PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\nMaxSessions %d\nAllowStreamLocalForwarding %s\n",
		address, e.path("machine"), e.path("authorized"), cmp.Or(s.Sessions, 2), forwarding), 0o600)
	server := exec.CommandContext(e.life, "/usr/sbin/sshd", "-D", "-e", "-f", e.path("sshd.conf"))
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	server.WaitDelay = 5 * time.Second
	log, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	said := ""
	for !strings.Contains(said, "Server listening") && lines.Scan() {
		said += lines.Text() + "\n"
	}
	e.work.Go(func() {
		for lines.Scan() { // otherwise a full pipe would block sshd
		}
		_ = server.Wait()
	})
	if !strings.Contains(said, "Server listening") {
		e.t.Fatal("sshd did not start: ", said)
	}
	return address
}
