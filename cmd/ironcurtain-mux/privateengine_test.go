package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// privateEngine is a container engine of one test, which may stop it, restart it
// or let it hang. It has the image of the shell.
type privateEngine struct {
	t       *testing.T
	dir     string
	address string
	flags   []string
	cmd     *exec.Cmd
}

// startEngine starts one with further flags of dockerd.
func startEngine(t *testing.T, flags ...string) *privateEngine {
	t.Helper()
	shared := engine(t)
	image, err := shared.EnsureImage(t.Context(), "shell", docker.BuildOptions{CacheDir: cacheDirectory(t)})
	if err != nil {
		t.Fatal(err)
	}
	e := &privateEngine{t: t, dir: newHome(t), flags: flags}
	e.address = "unix://" + filepath.Join(e.dir, "d.sock")
	e.start()
	t.Cleanup(func() {
		e.signal(syscall.SIGCONT)
		e.stop(syscall.SIGTERM)
		if log, _ := os.ReadFile(filepath.Join(e.dir, "log")); t.Failed() {
			t.Logf("the engine said: %s", log[max(0, len(log)-2000):])
		}
		// What it mounted goes with it; the rest is files.
		_ = exec.Command("sh", "-c", `grep -o "`+e.dir+`[^ ]*" /proc/mounts | sort -r | xargs -r umount -l`).Run()
	})
	load := exec.CommandContext(t.Context(), "sh", "-c", `docker -H "$1" save "$2" | docker -H "$3" load`, "sh", shared.Endpoint().Address, image, e.address)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("give it the image: %v: %s", err, out)
	}
	return e
}

// start starts it, again after stop, and waits until it answers.
func (e *privateEngine) start() {
	e.t.Helper()
	log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	e.cmd = exec.Command("dockerd", append([]string{
		"--data-root", filepath.Join(e.dir, "data"), "--exec-root", filepath.Join(e.dir, "exec"), "-H", e.address,
		"--pidfile", filepath.Join(e.dir, "pid"), "--bridge=none", "--iptables=false",
	}, e.flags...)...)
	e.cmd.Stdout, e.cmd.Stderr = log, log
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	limit := time.After(time.Minute)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if _, err := docker.Connect(e.t.Context(), docker.Endpoint{Address: e.address, Source: "test"}); err == nil {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			e.t.Fatal("the private engine does not start")
		}
	}
}

func (e *privateEngine) signal(s syscall.Signal) { _ = e.cmd.Process.Signal(s) }

// stop ends it and waits for its end. An engine now and then hangs when it ends; it is
// killed then.
func (e *privateEngine) stop(s syscall.Signal) {
	e.signal(s)
	kill := time.AfterFunc(30*time.Second, func() { e.signal(syscall.SIGKILL) })
	defer kill.Stop()
	_ = e.cmd.Wait()
}

// docker runs a command of the engine's own client, as somebody else would.
func (e *privateEngine) docker(args ...string) string {
	e.t.Helper()
	out, err := exec.CommandContext(e.t.Context(), "docker", append([]string{"-H", e.address}, args...)...).CombinedOutput()
	if err != nil {
		e.t.Fatalf("docker %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// driveShell opens a shell in a container of this engine, in a multiplexer that may
// open shells of this machine too.
func (e *privateEngine) driveShell() *driver {
	e.t.Helper()
	home := newHome(e.t)
	configure(e.t, home, `{"localShell":true,"images":{"tools":[]}}`) // its image is a small one
	d := driveArgv(e.t, home, 110, 24, "env", "DOCKER_HOST="+e.address, "SHELL=/bin/sh", "PS1=here> ", "ENV=",
		"ironcurtain-mux", "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	return d
}

// empty checks that no container is left in it.
func (e *privateEngine) empty() {
	e.t.Helper()
	c, err := docker.Connect(e.t.Context(), docker.Endpoint{Address: e.address, Source: "test"})
	if err != nil {
		e.t.Fatal(err)
	}
	left, err := c.List(e.t.Context(), nil)
	if err != nil || len(left) > 0 {
		e.t.Errorf("left in the engine: %+v, %v", left, err)
	}
}
