package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// An ordinary user and an engine that is theirs: a session's files belong to them on both sides, its
// tool calls are judged, and a killed multiplexer takes the agent back.
func TestRootless(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes users") //nolint:forbidigo // CI is root
	}
	for name, engine := range map[string]struct {
		argv []string // @SOCKET and @DIR stand for its socket and a directory of its own
		uid  string   // in the container; empty: that of the user
	}{
		"Docker": {[]string{
			"rootlesskit", "--net=host", "--copy-up=/etc", "--copy-up=/run", "--propagation=rslave", "--state-dir=@DIR/kit", "sh", "-c",
			"rm -f /run/docker /run/containerd /run/xtables.lock; exec dockerd --rootless -H unix://@SOCKET --data-root @DIR/data --exec-root @DIR/exec --pidfile @DIR/pid --iptables=false --ip6tables=false --bridge=none",
		}, "0"},
		"Podman": {[]string{"podman", "system", "service", "--time=0", "unix://@SOCKET"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := makePerson(t)
			socket := u.serve(t, engine.argv)
			importTiny(t, socket)
			useVolumes(t, socket)
			if copied() {
				engine.uid = "1000"
			} else if engine.uid == "" {
				engine.uid = strconv.Itoa(u.uid)
			}
			u.useAgent(t, socket, engine.uid)
		})
	}
}

// useAgent opens a session with a shell, in whose container the user has that number.
func (u *person) useAgent(t *testing.T, socket, uid string) {
	t.Helper()
	d := driveArgv(t, u.home, 110, 24, u.argv("IRONCURTAIN_CACHE="+u.home+"/cache", u.home+"/bin/ironcurtain-mux", "demo", "--agent", "shell", "--engine", socket)...)
	prompt := "/workspace" + map[bool]string{true: "#", false: "$"}[uid == "0"]
	d.see(patience, prompt)
	session := d.onlySession()
	d.send("id -u; : >inside; echo made-$((40+2))\r")
	d.see(patience, "\n"+uid+"\n", "made-42")
	d.send(`grep -c "^Cap.*:.0000000000000000$" /proc/self/status; echo no-$((3+4))` + "\r")
	d.see(patience, "\n5\n", "no-7") // sets of capabilities

	const lines = `'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' ` +
		`'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":"/workspace/by-tool","content":"x"}}}'`
	d.send(`(printf '%s\n' ` + lines + "; sleep 600) | ironcurtain-mux-bridge mcp >answer &\r")
	u.owns(t, filepath.Join(session.Workspace, "by-tool"))
	u.owns(t, filepath.Join(session.Workspace, "inside")) // with copied files it comes here with the call
	if record, err := os.ReadFile(d.state("sessions", session.ID, "audit.jsonl")); err != nil || !strings.Contains(string(record), "write_file") {
		t.Errorf("the call is not in the audit: %v", err)
	}

	pid, shown := serverOf(t, d.state("run", "daemon.sock")), d.takesTerminal()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-shown:
	case <-time.After(patience):
		t.Fatalf("no other daemon was started:\n%s", d.text())
	}
	d.see(patience, "no-7")
	d.send("echo back-$((40+3))\r")
	d.see(patience, "back-43")
	if again := d.onlySession(); again.ID != session.ID {
		t.Error("it is another session")
	}
	d.quit()
}

// person is an ordinary user of this machine who exists for the time of a test.
type person struct {
	name     string
	uid, gid int
	home     string // of the tests' kind
}

// makePerson makes a user with a home in which there are this program and the tool servers.
func makePerson(t *testing.T) *person {
	t.Helper()
	u := &person{home: newHome(t)}
	u.name = strings.ToLower(filepath.Base(u.home))
	for _, dir := range []string{"bin", "user", "run", "cache/servers"} {
		if err := os.MkdirAll(filepath.Join(u.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	installed, err := servers.Install(t.Context(), cacheDirectory(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	must(t, "useradd", "--no-create-home", "--user-group", "--home-dir", u.home+"/user", u.name)
	t.Cleanup(func() {
		u.killAll()
		must(t, "userdel", u.name)
	})
	must(t, "cp", own, u.home+"/bin/ironcurtain-mux")
	must(t, "cp", "-r", installed.Path(), u.home+"/cache/servers/")
	must(t, "chown", "-R", u.name+":"+u.name, u.home)
	info, err := os.Stat(u.home)
	if err != nil {
		t.Fatal(err)
	}
	of := info.Sys().(*syscall.Stat_t)
	u.uid, u.gid = int(of.Uid), int(of.Gid)
	for _, file := range []string{"/etc/subuid", "/etc/subgid"} {
		if text, err := os.ReadFile(file); err != nil || !regexp.MustCompile(`(?m)^`+u.name+`:`).Match(text) {
			t.Fatalf("%s gives %s no range: %v", file, u.name, err)
		}
	}
	return u
}

// must runs a program that has to succeed.
func must(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s; 'scripts/setup --tests' installs it", argv, err, out)
	}
}

// argv is how the user starts a program; variables can come before it.
func (u *person) argv(command ...string) []string {
	return append([]string{"setpriv", "--reuid", u.name, "--regid", u.name, "--init-groups", "env", "-u", "DOCKER_HOST", "HOME=" + u.home + "/user", "XDG_RUNTIME_DIR=" + u.home + "/run"}, command...)
}

// killAll kills whatever the user still runs.
func (u *person) killAll() {
	eventually(10*time.Second, func() bool {
		none := true
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range all {
			var of syscall.Stat_t
			if syscall.Stat(dir, &of) == nil && int(of.Uid) == u.uid && u.uid != 0 {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				_ = syscall.Kill(pid, syscall.SIGKILL)
				none = false
			}
		}
		return none
	})
}

// owns waits for a file and checks that it is the user's.
func (u *person) owns(t *testing.T, path string) {
	t.Helper()
	var of syscall.Stat_t
	if !eventually(patience, func() bool { return syscall.Stat(path, &of) == nil }) {
		t.Fatalf("%s was not made", path)
	}
	if int(of.Uid) != u.uid || int(of.Gid) != u.gid {
		t.Errorf("%s belongs to %d:%d and not to %d:%d", path, of.Uid, of.Gid, u.uid, u.gid)
	}
}

// serve starts the user's own engine and returns its socket.
func (u *person) serve(t *testing.T, argv []string) string {
	t.Helper()
	socket := u.home + "/run/engine.sock"
	places := strings.NewReplacer("@SOCKET", socket, "@DIR", u.home+"/run")
	argv = slices.Clone(argv)
	for i := range argv {
		argv[i] = places.Replace(argv[i])
	}
	argv = u.argv(argv...)
	engine := exec.Command(argv[0], argv[1:]...)
	engine.Dir = u.home
	log, err := os.Create(filepath.Join(t.TempDir(), "engine.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	engine.Stdout, engine.Stderr = log, log
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = engine.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, u.killAll)
		_ = engine.Wait()
		kill.Stop()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the engine said: %s", said[max(0, len(said)-4000):])
		}
	})
	if !eventually(time.Minute, func() bool {
		_, err := docker.Connect(t.Context(), docker.Endpoint{Address: "unix://" + socket, Source: "test"})
		return err == nil
	}) {
		t.Fatal("the engine does not answer")
	}
	return socket
}

// serverOf returns the process that listens on a socket.
func serverOf(t *testing.T, path string) int {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return int(peer.Pid)
}
