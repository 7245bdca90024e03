package ssh

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// forward is one ssh that forwards a socket of this machine. It ends by itself, by stop, or when
// this process has ended or has become another program (see guard).
type forward struct {
	tunnel *Tunnel
	socket string // in a private directory, which exists as long as the process
	began  time.Time
	cmd    *exec.Cmd
	stdin  io.Closer     // of the guard
	stderr io.ReadCloser // of ssh; it ends when ssh does
	once   sync.Once     // of stop
	kill   *time.Timer

	ready  chan struct{} // closed when ssh listens at the socket
	done   chan struct{} // closed by the owner when process and directory are gone
	failed error         // why it ended; set before done is closed
}

// guard is a shell script that runs ssh until its own standard input ends. The kernel closes that
// input when this process ends, is killed, or becomes another program. The script then ends ssh and
// removes the directory. It ignores the signals of a terminal's keys: this process handles them.
const guard = `trap '' INT QUIT HUP
dir=$1
shift
"$@" </dev/null &
ssh=$!
echo "$ssh" >"$dir/pid"
exec 2>/dev/null
read -r _
kill "$ssh"
wait "$ssh"
code=$?
rm -rf -- "$dir"
exit "$code"`

// directoryName matches the path of a directory without characters that are special to ssh.
var directoryName = regexp.MustCompile(`^/[A-Za-z0-9._/@+=,-]*$`)

// privateDir makes a directory for a socket that no other user can read.
func privateDir() (string, error) {
	base := os.TempDir()
	if !directoryName.MatchString(base) || len(base)+len("/icssh1234567890/s") > maxSocketPath {
		base = "/tmp"
	}
	return os.MkdirTemp(base, "icssh")
}

// startForward starts an ssh. The caller must call run, once, and close done after it.
func startForward(t *Tunnel) (*forward, error) {
	const op = "start ssh"
	dir, err := privateDir()
	if err != nil {
		return nil, fault.Wrap(op, err, "make the directory for temporary files writable")
	}
	f := &forward{
		tunnel: t, socket: filepath.Join(dir, "s"), began: time.Now(),
		ready: make(chan struct{}), done: make(chan struct{}),
	}
	argv := append([]string{"-c", guard, "sh", dir, t.program}, t.target.forwardArgs(f.socket, t.ask)...)
	f.cmd = exec.Command("/bin/sh", argv...) //nolint:noctx,gosec // stop ends it; the script is constant, and names are only its arguments
	detach(f.cmd, t.ask)
	f.stdin, err = f.cmd.StdinPipe()
	if err == nil {
		f.stderr, err = f.cmd.StderrPipe()
	}
	if err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fault.Wrap(op, err, "")
	}
	return f, nil
}

// detach separates a program from the terminal, unless it may ask there. A separated program cannot
// ask, and gets none of the signals of the terminal's keys.
func detach(cmd *exec.Cmd, ask bool) {
	if !ask {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
}

// killDelay is how long an ssh may take to end after a request to end.
const killDelay = 2 * time.Second

// run waits for the end of the process, removes the directory, and returns why the process ended.
// permanent reports that another one would fail, too. run ends a process that does not reach the
// machine within limit.
func (f *forward) run(limit time.Duration) (permanent bool, err error) {
	said := &bounded.Tail{Most: tailLimit}
	quiet := make(chan struct{}) // closed when ssh has ended
	var work sync.WaitGroup
	work.Go(func() {
		defer close(quiet)
		_, _ = io.Copy(said, f.stderr)
	})
	inTime := f.await(quiet, limit)
	<-quiet
	f.stop()
	err = f.cmd.Wait()
	f.kill.Stop()
	work.Wait()
	_ = os.RemoveAll(filepath.Dir(f.socket))
	if !inTime {
		err = fmt.Errorf("no connection within %s", limit)
	}
	permanent, why := f.tunnel.target.failure(said.String(), err)
	f.failed = f.tunnel.explain(why)
	return permanent, f.failed
}

// await closes ready when ssh listens. If ssh does not listen within limit, await stops it and
// returns false.
func (f *forward) await(quiet <-chan struct{}, limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-quiet:
			return true
		case <-late.C:
			f.stop()
			return false
		case <-look.C:
		}
		if conn, err := new(net.Dialer).DialContext(context.Background(), "unix", f.socket); err == nil {
			conn.Close()
			close(f.ready)
			return true
		}
	}
}

// stop makes the process end, and kills it after killDelay.
func (f *forward) stop() {
	f.once.Do(func() {
		f.kill = time.AfterFunc(killDelay, func() {
			if f.cmd.SysProcAttr != nil {
				_ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) // ssh, and what it has started
			} else if pid := f.ssh(); pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL) // the guard, which should end it, may be gone
			}
			_ = f.cmd.Process.Kill()
			f.stderr.Close() // programs that ssh started may keep it open
		})
		f.stdin.Close()
	})
}

// ssh returns the process ID of ssh, or 0 if it is not known.
func (f *forward) ssh() int {
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(f.socket), "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// isReady reports whether ssh has reached the machine.
func (f *forward) isReady() bool {
	select {
	case <-f.ready:
		return true
	default:
		return false
	}
}

// connect waits until ssh has reached the machine, and opens a connection through it.
func (f *forward) connect(ctx context.Context) (net.Conn, error) {
	select {
	case <-f.ready:
	case <-f.done:
		return nil, f.failed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return new(net.Dialer).DialContext(ctx, "unix", f.socket)
}

// gone reports whether an error of connect means that ssh has ended.
func (f *forward) gone(err error) bool {
	select {
	case <-f.done:
		return true
	default:
		return refused(err)
	}
}
