// Package ports lets programs of this machine connect to ports of a session's container, and programs in
// the container to single ports of this machine that the person names. The container has no network, and
// the host cannot connect to it. So the bridge in the container keeps a control connection to the host
// open. For each connection to an opened port, the Forwarder makes a random ticket and sends it on the
// control connection, with the container's port. The bridge connects to that port, opens a connection to
// the host that starts with the ticket, and bytes are copied between the two. For the other direction
// the bridge listens on a port of the container, and opens connections that start with its number.
//
// The agent can connect to the host in the bridge's place, but gains nothing: it can answer a connection
// that a client on the host has made, as it can by listening on the port, and it can open connections
// only to ports that the person has opened for the container.
package ports

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Limits of one session.
const (
	maxPorts = 32
	// maxConns is how many connections are carried at the same time, on all ports together. To ports of
	// the container further ones wait; those from the container are closed.
	maxConns = 256
	// maxHellos is how many connections from the container may be open without a first line.
	maxHellos = 64
)

// answerLimit is how long a client waits for a connection to the container, and how long a connection
// from the container may take to send its first line.
const answerLimit = 10 * time.Second

// Reasons for which a connection is not carried.
var (
	errRefused = errors.New("nothing listens on it in the container")
	errAway    = errors.New("the container's bridge does not answer")
)

// Port is an opened port.
type Port struct {
	Container int  `json:"container"` // on the container's loopback interface
	Host      int  `json:"host"`      // on the host's
	Out       bool `json:"out"`       // programs in the container connect to the host's port
}

// String returns the port's address on the host, and the container's port if it differs.
func (p Port) String() string {
	switch {
	case p.Out && p.Host == p.Container:
		return fmt.Sprintf("→localhost:%d", p.Host)
	case p.Out:
		return fmt.Sprintf("%d→localhost:%d", p.Container, p.Host)
	case p.Host == p.Container:
		return fmt.Sprintf("localhost:%d", p.Host)
	}
	return fmt.Sprintf("localhost:%d→%d", p.Host, p.Container)
}

// Forwarder carries connections to the ports of one session.
type Forwarder struct {
	tell  func(text string) // tells the person something; returns at once
	slots chan struct{}     // one value for each connection to the container

	mu      sync.Mutex
	control bridge.HostConn                        // the latest control connection; nil while there is none
	arrived chan struct{}                          // closed when control is set
	wanted  map[bridge.Ticket]chan bridge.HostConn // receives the bridge's answer, nil if refused
	open    []*forward                             // in the order of opening
	outward []*outward                             // in the order of opening
	closed  bool

	outSlots chan struct{} // one value for each connection from the container
}

// New makes a Forwarder without ports. It calls tell to tell the person of failed connections.
func New(tell func(text string)) *Forwarder {
	return &Forwarder{
		tell: tell, slots: make(chan struct{}, maxConns),
		wanted: map[bridge.Ticket]chan bridge.HostConn{}, arrived: make(chan struct{}), outSlots: make(chan struct{}, maxConns),
	}
}

// Serve accepts the bridge's connections until ctx ends. Then it closes every port and connection.
func (f *Forwarder) Serve(ctx context.Context, socket net.Listener) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	var hellos sync.WaitGroup
	defer func() {
		cancel()
		hellos.Wait()
		f.closeAll()
	}()
	slots := make(chan struct{}, maxHellos)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := accept.Next(ctx, socket, func(error, time.Duration) {}) // Next retries; waiting clients give up after answerLimit
		if err != nil {
			return
		}
		hellos.Go(func() {
			follow := f.readHello(ctx, conn.(bridge.HostConn))
			<-slots
			follow()
		})
	}
}

// readHello reads the first line of a connection from the container. A connection with a ticket goes to
// the client that waits for it. For other connections, follow does what remains.
func (f *Forwarder) readHello(ctx context.Context, conn bridge.HostConn) (follow func()) {
	follow = func() {}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
	hello, err := bridge.ReadHello(conn)
	_ = conn.SetReadDeadline(time.Time{})
	if err == nil && hello.Kind == bridge.HelloControl {
		f.setControl(conn)
		return func() {
			defer stop()
			_, _ = conn.Read(make([]byte, 1)) // waits for the end: the bridge sends nothing
			f.dropControl(conn)
		}
	}
	if err == nil && hello.Kind == bridge.HelloOutward {
		return func() {
			defer stop()
			f.carryOut(ctx, conn, int(hello.Ticket.Port()))
		}
	}
	f.mu.Lock()
	answer := f.wanted[hello.Ticket]
	delete(f.wanted, hello.Ticket)
	f.mu.Unlock()
	given := conn
	if err != nil || answer == nil || hello.Kind != bridge.HelloData {
		_ = conn.Close()
		given = nil
	}
	if !stop() {
		given = nil // ctx has ended, and the connection is closed
	}
	if answer != nil {
		answer <- given // does not block: it has room for one, and each ticket is used once
	}
	return follow
}

// setControl makes conn the control connection and closes the former one, because the bridge opens
// another one only after it has lost the former.
func (f *Forwarder) setControl(conn bridge.HostConn) {
	f.mu.Lock()
	before := f.control
	f.control = conn
	if before == nil {
		close(f.arrived)
	}
	f.mu.Unlock()
	if before != nil {
		_ = before.Close()
	}
}

func (f *Forwarder) dropControl(conn bridge.HostConn) {
	_ = conn.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.control == conn {
		f.control, f.arrived = nil, make(chan struct{})
	}
}

// askBridge sends the bridge a request about a port of the container, and returns the connection that is
// its answer.
func (f *Forwarder) askBridge(ctx context.Context, verb bridge.Verb, port int) (bridge.HostConn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errAway)
	defer cancel()
	control, err := f.awaitControl(ctx)
	if err != nil {
		return nil, err
	}
	var t bridge.Ticket
	_, _ = rand.Read(t[:]) // never fails
	answer := make(chan bridge.HostConn, 1)
	f.mu.Lock()
	f.wanted[t] = answer
	f.mu.Unlock()
	if err = f.request(control, bridge.Request{Verb: verb, Port: uint16(port), Ticket: t}); err == nil {
		select {
		case conn := <-answer:
			return orRefused(conn)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	f.mu.Lock()
	_, unused := f.wanted[t]
	delete(f.wanted, t)
	f.mu.Unlock()
	if !unused {
		return orRefused(<-answer) // readHello has used the ticket and is about to answer
	}
	return nil, err
}

// awaitControl waits for the control connection. The bridge opens it when the container has started, and
// within a second after another process has taken the session back.
func (f *Forwarder) awaitControl(ctx context.Context) (bridge.HostConn, error) {
	for {
		f.mu.Lock()
		control, arrived := f.control, f.arrived
		f.mu.Unlock()
		if control != nil {
			return control, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func orRefused(conn bridge.HostConn) (bridge.HostConn, error) {
	if conn == nil {
		return nil, errRefused
	}
	return conn, nil
}

// request sends a request to the bridge. After an error it closes the control connection, because a part
// of the line may have been written.
func (f *Forwarder) request(control bridge.HostConn, r bridge.Request) error {
	_ = control.SetWriteDeadline(time.Now().Add(answerLimit))
	if _, err := control.Write(r.Line()); err != nil {
		f.dropControl(control)
		return errAway
	}
	return nil
}
