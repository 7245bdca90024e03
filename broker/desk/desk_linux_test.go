package desk

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes both sides of a desk in this process.
func open(t *testing.T, settings any) (*Host, *Process) {
	t.Helper()
	h, err := Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(h.Process.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.SetNonblock(fd, true), h.Process.Close()); err != nil {
		t.Fatal(err)
	}
	p := At(uintptr(fd))
	t.Cleanup(func() { _ = p.file.Close() })
	return h, p
}

// echo is a service that says back what it is told.
func echo(t *testing.T) func(context.Context) (*net.UnixConn, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return func(ctx context.Context) (*net.UnixConn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		return c.(*net.UnixConn), nil //nolint:forcetypeassert // it is of a socket of that kind
	}
}

func TestConnectionsAreHandedOver(t *testing.T) {
	h, p := open(t, map[string]string{"model": "one"})
	h.Serve(t.Context(), echo(t))
	var settings map[string]string
	if err := p.Settings(&settings); err != nil || settings["model"] != "one" {
		t.Fatalf("%v, %v", settings, err)
	}
	first, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for text, c := range map[string]net.Conn{"first\n": first, "second\n": second} {
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(c).ReadString('\n'); err != nil || got != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(first, "x"); err != nil {
		t.Errorf("a connection ended with its desk: %v", err)
	}
	if _, err := p.Dial(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if err := second.(Conn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end of what is sent: %v", err)
	}
	_, _ = first.Close(), second.Close()
}

// A read that waits ends with its connection, because that is how a person interrupts.
func TestReadsCanBeEnded(t *testing.T) {
	h, p := open(t, nil)
	h.Serve(t.Context(), echo(t))
	if err := p.Settings(new(any)); err != nil {
		t.Fatal(err)
	}
	c, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsWrongIsTold(t *testing.T) {
	h, p := open(t, nil)
	h.Serve(t.Context(), func(context.Context) (*net.UnixConn, error) { return nil, errors.New("the model is away") })
	if err := p.Settings(new(any)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := p.Dial(t.Context()); err == nil || err.Error() != "the model is away" {
			t.Fatal(err)
		}
	}
	if _, err := p.file.WriteString("connect me to the engine"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Dial(t.Context()); err == nil {
		t.Error("a desk goes on with a process that asks for something else")
	}
	_ = h.Close()
	if _, err := Open(strings.Repeat("x", maxMessage)); err == nil {
		t.Error("settings of any length are taken")
	}
}

// descriptors counts those of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A process that asks for ever and takes nothing holds a bounded number of connections, does
// not keep the desk from closing, and leaves nothing behind.
func TestAskedForEver(t *testing.T) {
	before := descriptors(t)
	h, p := open(t, nil)
	var handedOver atomic.Int32
	h.Serve(t.Context(), func(context.Context) (*net.UnixConn, error) {
		ours, theirs, err := pair(unix.SOCK_STREAM)
		if err != nil {
			return nil, err
		}
		defer ours.Close()
		defer theirs.Close()
		c, err := net.FileConn(theirs)
		if err != nil {
			return nil, err
		}
		handedOver.Add(1)
		return c.(*net.UnixConn), nil //nolint:forcetypeassert // it is of a socket of that kind
	})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			if _, err := p.file.Write([]byte{0}); err != nil {
				return
			}
		}
	})
	for handedOver.Load() < 64 {
		runtime.Gosched()
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	asking.Wait()
	_ = p.file.Close()
	if n := descriptors(t); n > before {
		t.Errorf("%d descriptors are left", n-before)
	}
}
