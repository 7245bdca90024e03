package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// forward is one opened port.
type forward struct {
	Port
	listeners []net.Listener
	cancel    context.CancelFunc
	running   sync.WaitGroup
	failures  failures
}

// failures remembers whether the connections of one port fail, so that the person is told once.
type failures struct {
	mu   sync.Mutex
	told bool // the person was told, and no connection has succeeded since
}

// note records the result of making a connection, and reports whether to tell the person of err.
func (f *failures) note(err error) (tell bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tell = err != nil && !f.told
	f.told = err != nil
	return tell
}

// Open listens on a port of the host's loopback interface and carries its connections to a
// port of the container. Programs of other machines cannot connect.
func (f *Forwarder) Open(p Port) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch i := slices.IndexFunc(f.open, func(o *forward) bool { return o.Container == p.Container }); {
	case f.closed:
		return errors.New("the session has ended")
	case i >= 0:
		return fault.New(fmt.Sprintf("close it with /port close %d", p.Container), "port %d is open at localhost:%d already", p.Container, f.open[i].Host)
	case len(f.open)+len(f.outward) >= maxPorts:
		return fault.New("close one with /port close N", "%d ports are open, and no more are allowed", maxPorts)
	}
	listeners, err := listen(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &forward{Port: p, listeners: listeners, cancel: cancel}
	for _, l := range listeners {
		o.running.Go(func() { f.serve(ctx, o, l) })
	}
	f.open = append(f.open, o)
	return nil
}

// listen listens on both addresses of the loopback interface, or on 127.0.0.1 if the machine has no ::1.
func listen(p Port) ([]net.Listener, error) {
	var all []net.Listener
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p.Host))) //nolint:noctx // binding a number does not wait
		if err == nil {
			all = append(all, l)
			continue
		}
		if len(all) > 0 && (errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)) {
			continue
		}
		for _, l := range all {
			_ = l.Close()
		}
		return nil, bindError(p, err)
	}
	return all, nil
}

// bindError returns why the host's port cannot be listened on, and which other port to try.
func bindError(p Port, err error) error {
	other := p.Host + 1
	if p.Host < 1024 {
		other = p.Host + 8000
	}
	if other > 65535 {
		other = 8080
	}
	next := fmt.Sprintf("use another one: /port %d %d", p.Container, other)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.New(next, "port %d of this machine is used by another program", p.Host)
	case errors.Is(err, syscall.EACCES):
		return fault.New(next, "port %d of this machine is only for root", p.Host)
	}
	return fault.New(next, "listen on port %d of this machine: %w", p.Host, err)
}

// Close closes what Open or Admit has opened for a port of the container, with its connections.
func (f *Forwarder) Close(container int) error {
	if f.removeOutward(container) {
		return nil
	}
	f.mu.Lock()
	i := slices.IndexFunc(f.open, func(o *forward) bool { return o.Container == container })
	if i < 0 {
		defer f.mu.Unlock()
		return f.notOpen(container)
	}
	o := f.open[i]
	f.open = slices.Delete(f.open, i, i+1)
	f.mu.Unlock()
	o.close()
	return nil
}

// notOpen returns the error for closing a port that is not open. For a number of this machine its hint
// names the container's port, by which ports are closed. The caller holds the lock.
func (f *Forwarder) notOpen(port int) error {
	known := make([]Port, 0, len(f.open)+len(f.outward))
	for _, o := range f.open {
		known = append(known, o.Port)
	}
	for _, o := range f.outward {
		known = append(known, o.Port)
	}
	for _, p := range known {
		if p.Host == port {
			return fault.New(fmt.Sprintf("/port close %d closes it", p.Container), "port %d of this machine belongs to port %d of the container", port, p.Container)
		}
	}
	return fault.New("/port lists the open ports", "port %d is not open", port)
}

// List returns the open ports in the order of opening, those with Out last.
func (f *Forwarder) List() []Port {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Port
	for _, o := range f.open {
		all = append(all, o.Port)
	}
	for _, o := range f.outward {
		all = append(all, o.Port)
	}
	return all
}

// String returns the addresses of the open ports on one line.
func (f *Forwarder) String() string {
	var all []string
	for _, p := range f.List() {
		all = append(all, p.String())
	}
	return strings.Join(all, " ")
}

// closeAll closes every port, for good.
func (f *Forwarder) closeAll() {
	f.mu.Lock()
	all, out := f.open, f.outward
	f.open, f.outward, f.closed = nil, nil, true
	f.mu.Unlock()
	for _, o := range out {
		o.cancel()
	}
	for _, o := range all {
		o.close()
	}
}

func (o *forward) close() {
	o.cancel()
	for _, l := range o.listeners {
		_ = l.Close()
	}
	o.running.Wait()
}

// serve carries the connections that arrive at one of a port's listeners.
func (f *Forwarder) serve(ctx context.Context, o *forward, l net.Listener) {
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		conn, err := accept.Next(ctx, l, func(error, time.Duration) {}) // Next retries
		if err != nil {
			return
		}
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			_ = conn.Close()
			return
		}
		conns.Go(func() {
			defer func() { <-f.slots }()
			defer conn.Close()
			f.carry(ctx, o, conn.(*net.TCPConn))
		})
	}
}

// carry carries one connection. If the container cannot be connected, it tells the person, but only
// once until a connection to the port succeeds.
func (f *Forwarder) carry(ctx context.Context, o *forward, client *net.TCPConn) {
	inside, err := f.askBridge(ctx, bridge.VerbConnect, o.Container)
	if ctx.Err() != nil && inside == nil {
		return
	}
	if o.failures.note(err) {
		f.tell(fmt.Sprintf("a connection to port %d was closed: %v", o.Container, err))
	}
	if err != nil {
		return
	}
	defer inside.Close()
	bridge.JoinPort(ctx, client, inside)
}
