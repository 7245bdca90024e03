package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// outward is a port of the host that the person lets the container reach.
type outward struct {
	Port
	ctx      context.Context // ends with the port
	cancel   context.CancelFunc
	failures failures
}

// Admit lets programs in the container connect to a port of the host's loopback interface, through a
// port of the container. It waits until the bridge listens on that.
func (f *Forwarder) Admit(ctx context.Context, p Port) error {
	port := &outward{Port: p}
	port.ctx, port.cancel = context.WithCancel(context.Background())
	if err := f.addOutward(port); err != nil {
		port.cancel()
		return err
	}
	conn, err := f.askBridge(ctx, bridge.VerbListen, p.Container)
	if err != nil {
		f.removeOutward(p.Container)
		if errors.Is(err, errRefused) {
			err = fault.New(fmt.Sprintf("use another port of the container: /port --to %d %d", p.Host, p.Container+1), "a program in the container uses port %d itself", p.Container)
		}
		return err
	}
	return conn.Close()
}

func (f *Forwarder) addOutward(port *outward) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return errors.New("the session has ended")
	case slices.ContainsFunc(f.outward, func(o *outward) bool { return o.Container == port.Container }):
		return fault.New(fmt.Sprintf("close it with /port close %d", port.Container), "port %d of the container leads to this machine already", port.Container)
	case len(f.open)+len(f.outward) >= maxPorts:
		return fault.New("close one with /port close N", "%d ports are open, and no more are allowed", maxPorts)
	}
	f.outward = append(f.outward, port)
	return nil
}

// removeOutward closes an outward port and its connections. It reports whether the port was open.
func (f *Forwarder) removeOutward(container int) bool {
	f.mu.Lock()
	i := slices.IndexFunc(f.outward, func(o *outward) bool { return o.Container == container })
	if i < 0 {
		f.mu.Unlock()
		return false
	}
	port, control := f.outward[i], f.control
	f.outward = slices.Delete(f.outward, i, i+1)
	f.mu.Unlock()
	port.cancel()
	if control != nil { // without one the bridge keeps listening, and carryOut closes its connections
		_ = f.request(control, bridge.Request{Verb: bridge.VerbClose, Port: uint16(container)})
	}
	return true
}

// carryOut carries a connection that a program in the container has made, if the person has opened that
// port to this machine.
func (f *Forwarder) carryOut(ctx context.Context, inside bridge.HostConn, container int) {
	defer inside.Close()
	f.mu.Lock()
	i := slices.IndexFunc(f.outward, func(o *outward) bool { return o.Container == container })
	if i < 0 {
		f.mu.Unlock()
		return
	}
	port := f.outward[i]
	f.mu.Unlock()
	select {
	case f.outSlots <- struct{}{}:
		defer func() { <-f.outSlots }()
	default:
		return // the container has the most connections that it may have
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(port.ctx, cancel)()
	host, err := dialHost(ctx, port.Host)
	if port.failures.note(err) && ctx.Err() == nil {
		f.tell(fmt.Sprintf("a connection of the container to port %d of this machine failed: %v", port.Host, err))
	}
	if err != nil {
		return
	}
	defer host.Close()
	bridge.JoinPort(ctx, host, inside)
}

// dialHost connects to a port of the host's loopback interface.
func dialHost(ctx context.Context, port int) (conn *net.TCPConn, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for _, host := range []string{"127.0.0.1", "::1"} {
		var c net.Conn
		if c, err = (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			return c.(*net.TCPConn), nil
		}
	}
	return nil, errors.New("nothing listens on it")
}
