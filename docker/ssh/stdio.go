package ssh

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// stdioConn is a connection to the engine through an ssh of its own, which runs
// "docker system dial-stdio" on the machine.
type stdioConn struct {
	net.Conn // one end of a pair of sockets; the other one is ssh's standard input and output
	tunnel   *Tunnel
	end      context.CancelFunc
	done     chan struct{} // closed when ssh has ended
	failed   error         // why ssh ended; set before done is closed
	heard    atomic.Bool   // the engine has sent something
}

// dialStdio opens a stdioConn. When ssh cannot reach the engine, the first read fails.
func (t *Tunnel) dialStdio(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	const op = "start ssh"
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	defer theirs.Close()
	c := &stdioConn{Conn: ours, tunnel: t, done: make(chan struct{})}
	var life context.Context
	life, c.end = context.WithCancel(t.life)
	said := &bounded.Tail{Most: tailLimit}
	cmd := exec.CommandContext(life, t.program, t.target.dialArgs(t.ask)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killDelay
	detach(cmd, t.ask)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err = life.Err(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.end()
		ours.Close()
		return nil, fault.Wrap(op, err, "")
	}
	t.work.Go(func() {
		ended := cmd.Wait()
		permanent, why := t.target.failure(said.String(), ended)
		c.failed = t.explain(why)
		if !c.heard.Load() && life.Err() == nil {
			t.ended(c.failed, permanent)
		}
		close(c.done)
	})
	return c, nil
}

// socketPair makes two connected sockets.
func socketPair() (net.Conn, *os.File, error) {
	syscall.ForkLock.RLock() // no program that is started meanwhile inherits them
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "engine"), os.NewFile(uintptr(fds[1]), "ssh")
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn, theirs, nil
}

// Read returns what the engine sends. If the connection ends before the engine has sent anything,
// Read fails with the reason why ssh ended.
func (c *stdioConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.heard.Swap(true) {
		c.tunnel.works()
	}
	return n, c.explain(err)
}

func (c *stdioConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

// explain replaces the error of a read or write by the reason why ssh ended, if that caused it.
func (c *stdioConn) explain(err error) error {
	if c.heard.Load() || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	late := time.NewTimer(killDelay)
	defer late.Stop()
	select {
	case <-c.done:
		return c.failed
	case <-late.C:
		return err
	}
}

// CloseWrite ends the engine's input.
func (c *stdioConn) CloseWrite() error { return c.Conn.(*net.UnixConn).CloseWrite() }

// Close ends the connection and its ssh, and waits until ssh has ended.
func (c *stdioConn) Close() error {
	err := c.Conn.Close()
	c.end()
	<-c.done
	return err
}
