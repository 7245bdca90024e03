package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
)

// sshd is another machine: a real server on this one, at which a person with the key of its
// home may run commands. The person's ssh knows it as box.
type sshd struct {
	t         testing.TB
	home      string
	authority string // its authorized_keys
	client    string // a directory with ssh as the person has configured it
}

// startSSHD starts one whose commands have the state of a home and that PATH.
func startSSHD(t *testing.T, home, path string) sshd {
	t.Helper()
	dir := t.TempDir()
	s := sshd{t: t, home: home, authority: filepath.Join(dir, "authorized_keys"), client: filepath.Join(dir, "bin")}
	key, hostKey := s.newKey(filepath.Join(dir, "key")), s.newKey(filepath.Join(dir, "host"))
	s.write(s.authority, key)
	var variables strings.Builder
	for _, v := range environment(home, cacheDirectory(t)) {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PATH":
			v = "PATH=" + path
		case "TERM": // it is that of the person
			continue
		}
		fmt.Fprintf(&variables, " %q", v)
	}
	port := gitserver.StartSSHD(t, filepath.Join(dir, "host"), s.authority, "PrintMotd no\nPrintLastLog no\nSubsystem sftp internal-sftp\nSetEnv"+variables.String()+"\n")
	known := s.write(filepath.Join(dir, "known_hosts"), fmt.Sprintf("[127.0.0.1]:%d %s", port, hostKey))
	mine := s.write(filepath.Join(dir, "ssh.conf"), fmt.Sprintf("Host phone\nIdentityFile %s\nHost *\nHostName 127.0.0.1\nPort %d\nIdentityFile %s\n"+
		"IdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n"+
		"BatchMode yes\nControlMaster no\nControlPath none\nLogLevel ERROR\n", filepath.Join(dir, "phone"), port, filepath.Join(dir, "key"), known))
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	s.program(s.client, "ssh", fmt.Sprintf("exec %s -F %s \"$@\"", ssh, mine))
	return s
}

// newKey makes a key without a phrase and returns its public half.
func (s sshd) newKey(path string) string {
	s.t.Helper()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "some comment", "-f", path).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	if err != nil {
		s.t.Fatal(err)
	}
	return string(public)
}

func (s sshd) write(path, text string) string {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// program writes a script of sh and returns its directory.
func (s sshd) program(dir, name, script string) string {
	s.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

// path is the PATH of the person who comes from elsewhere.
func (s sshd) path() string { return s.client + ":" + os.Getenv("PATH") }

// drive runs a program there in a terminal.
func (s sshd) drive(argv ...string) *driver {
	s.t.Helper()
	return driveArgv(s.t, s.home, 110, 30, append([]string{"env", "PATH=" + s.path()}, argv...)...)
}

// command runs a program there without a terminal.
func (s sshd) command(argv ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := exec.Command("env", argv...)
	cmd.Env = append(environment(s.home, cacheDirectory(s.t)), "PATH="+s.path())
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
