package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// privateEngine is an engine that only this test uses, so that it can be stopped
// and restarted.
type privateEngine struct {
	t      *testing.T
	dir    string
	socket string
	cmd    *exec.Cmd
}

// startPrivate starts an engine that keeps its containers running when it ends, and
// loads the image that the other tests use.
func startPrivate(t *testing.T) *privateEngine {
	t.Helper()
	shared := connect(t)
	tag := image(t, shared, "shell")
	p := &privateEngine{t: t, dir: shortDir(t)}
	p.socket = filepath.Join(p.dir, "d.sock")
	p.start()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		p.stop(syscall.SIGTERM)
		if log, _ := os.ReadFile(filepath.Join(p.dir, "log")); t.Failed() {
			t.Logf("the engine said: %s", log[max(0, len(log)-3000):])
		}
		// The engine's mounts end with it; only files are left.
		_ = exec.Command("sh", "-c", `grep -o "`+p.dir+`[^ ]*" /proc/mounts | sort -r | xargs -r umount -l`).Run()
	})
	load := exec.Command("sh", "-c", `docker -H "$1" save "$2" | docker -H "unix://$3" load`, "sh", shared.Endpoint().Address, tag, p.socket)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("give it the image: %v: %s", err, out)
	}
	return p
}

func (p *privateEngine) start() {
	p.t.Helper()
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command("dockerd", "--data-root", filepath.Join(p.dir, "data"), "--exec-root", filepath.Join(p.dir, "exec"),
		"-H", "unix://"+p.socket, "--pidfile", filepath.Join(p.dir, "pid"), "--bridge=none", "--iptables=false", "--live-restore")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, patience, "the engine's start", func() bool {
		_, err := Connect(context.Background(), Endpoint{Address: "unix://" + p.socket, Source: "test"})
		return err == nil
	})
}

// stop ends the engine with a signal and waits for its end.
func (p *privateEngine) stop(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s)
	_ = p.cmd.Wait()
}

func (p *privateEngine) connect() *Client {
	p.t.Helper()
	c, err := Connect(deadline(p.t, patience), Endpoint{Address: "unix://" + p.socket, Source: "test"})
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// After a restart of the engine, an agent that still runs can be read and written again,
// and one whose container has ended is reported as ended. While the engine hangs, Ping
// fails within its limit and nothing is lost.
func TestEngineComesBack(t *testing.T) {
	p := startPrivate(t)
	c := p.connect()
	tag := image(t, connect(t), "shell")
	ct, err := c.Start(deadline(t, patience), Spec{
		Image: tag, Cmd: []string{"sh", "-c", `stty -echo; echo ready; while read line; do [ "$line" = end ] && exit 7; echo "heard $line"; done`},
		User: "1000:1000", WorkingDir: "/tmp", MemoryMB: 64, Cols: 80, Rows: 24,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ct.Remove(deadline(t, patience)) })
	guard := time.AfterFunc(2*patience, func() { ct.Close() })
	t.Cleanup(func() { guard.Stop() })
	in := bufio.NewReader(ct)
	readUntil(t, in, "ready\r\n")
	if err := ct.Resize(deadline(t, patience), 80, 24); err != nil {
		t.Fatal(err)
	}
	say := func(line string) {
		t.Helper()
		if _, err := ct.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}

	say("one")
	readUntil(t, in, "heard one\r\n")
	heard := make(chan struct{})
	go func() { // the reading waits while the engine is away
		defer close(heard)
		for line := ""; !strings.Contains(line, "heard two"); {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
	}()
	p.stop(syscall.SIGTERM)
	if err := c.Ping(deadline(t, 5*time.Second)); err == nil {
		t.Error("an engine that has ended answers")
	}
	p.start()
	eventually(t, patience, "the attachment", func() bool { // output may be lost while the container is attached again
		_, _ = ct.Write([]byte("two\n"))
		select {
		case <-heard:
			return true
		case <-time.After(100 * time.Millisecond):
			return false
		}
	})

	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// The signal has been sent, but not every thread has taken it yet.
	var took time.Duration
	eventually(t, patience, "the engine to hang", func() bool {
		begin := time.Now()
		err = c.Ping(deadline(t, 500*time.Millisecond))
		took = time.Since(begin)
		return err != nil
	})
	if !errors.Is(err, ErrEngineRefuses) || took > patience/4 {
		t.Errorf("a hanging engine: %v after %v", err, took)
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	say("three")
	readUntil(t, in, "heard three\r\n")
	say("end")
	if exit, err := ct.Wait(deadline(t, patience)); err != nil || exit.Code != 7 {
		t.Errorf("the end: %+v, %v", exit, err)
	}
}

// A detached container outlives its engine: connections to its programs end at once, and new
// ones are made when the engine is back. It is taken back, and its end is not missed.
func TestDetachedOutlivesItsEngine(t *testing.T) {
	p := startPrivate(t)
	c := p.connect()
	h, err := c.StartDetached(deadline(t, patience), Spec{
		Image: image(t, connect(t), "shell"), User: "1000:1000", WorkingDir: "/tmp", MemoryMB: 64,
		Cmd: []string{"sh", "-c", `until [ -e /tmp/end ]; do sleep 0.01; done; exit 7`},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Remove(deadline(t, patience)) })
	ended := make(chan Exit, 1)
	go func() {
		exit, err := h.Wait(deadline(t, 2*patience))
		if err != nil {
			t.Error(err)
		}
		ended <- exit
	}()
	echo := func(word string) (net.Conn, error) {
		conn, err := c.Stream(deadline(t, patience), h.ID(), []string{"cat"}, "1000:1000")
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, word)
		got := make([]byte, len(word))
		if err == nil {
			_, err = io.ReadFull(conn, got)
		}
		if err == nil && string(got) != word {
			err = fmt.Errorf("%q came back as %q", word, got)
		}
		return conn, err
	}
	conn, err := echo("before")
	if err != nil {
		t.Fatal(err)
	}
	p.stop(syscall.SIGTERM)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a read goes on without the engine")
	}
	if _, err := echo("meanwhile"); err == nil {
		t.Error("a program is started without the engine")
	}
	p.start()
	eventually(t, patience, "the program", func() bool { _, err := echo("after"); return err == nil })
	if _, err := p.connect().Running(deadline(t, patience), h.ID()); err != nil {
		t.Errorf("taken back: %v", err)
	}
	inside(t, c, h.ID(), "touch /tmp/end")
	if exit := <-ended; exit.Code != 7 {
		t.Errorf("the end: %+v", exit)
	}
}
