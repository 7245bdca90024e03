package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/ports"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Port is a port of the container that programs of this machine can connect to, or, with Out, one
// through which programs in the container reach a port of this machine.
type Port = ports.Port

// servePorts starts forwarding to ports of the container, and opens the ports that the configuration
// names for the workspace.
func (s *Session) servePorts(ctx context.Context, stack *teardown) error {
	listener, err := s.openListener(mux.Ports, s.layout.PortsSocket())
	if err != nil {
		return err
	}
	forwarder := ports.New(func(text string) { s.notice(false, text) })
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { forwarder.Serve(serving, listener) })
	stack.push("close the ports", func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
	s.mu.Lock()
	s.ports = forwarder
	s.mu.Unlock()
	for _, p := range s.deps.Config.Ports[stored.RealPath(s.origin())] {
		if err := s.OpenPort(ctx, p); err != nil {
			s.notice(false, describe(err))
		}
	}
	return nil
}

// origin returns the directory that the person has named: the workspace, the repository of the
// worktree, or the directory that was copied.
func (s *Session) origin() string {
	if s.fixed.Worktree != nil {
		return s.fixed.Worktree.Repository
	}
	return s.fixed.Place()
}

// forwarder returns the forwarder of connections to ports, which a session in a container has.
func (s *Session) forwarder() (*ports.Forwarder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.adapter.Place == agent.InProcess:
		return nil, fault.New("open a tab with an agent in a container", "%s has neither a container nor a network, so it has no ports", s.adapter.Name)
	case !s.Contained():
		return nil, fault.New("connect to it directly", "%s runs without a container and has no ports of its own", s.adapter.Name)
	case s.ports == nil:
		return nil, fault.New("try again when the session's container runs", "the session has not started yet")
	}
	return s.ports, nil
}

// OpenPort lets programs of this machine connect to a port of the container, or programs in
// the container to a port of this machine, until the session ends.
func (s *Session) OpenPort(ctx context.Context, p Port) error {
	f, err := s.forwarder()
	if err == nil && strings.HasSuffix(agent.ProxyAddress, ":"+strconv.Itoa(p.Container)) {
		err = fault.New("let the program listen on another port", "the agent reaches its model by port %d", p.Container)
	}
	what := fmt.Sprintf("the person opens port %d of the container on this machine, as localhost:%d", p.Container, p.Host)
	if p.Out {
		what = fmt.Sprintf("the person lets the container connect to port %d of this machine, through its own port %d", p.Host, p.Container)
	}
	if err == nil {
		err = s.note(ctx, what)
	}
	switch {
	case err != nil:
	case p.Out:
		err = f.Admit(ctx, p)
	default:
		err = f.Open(p)
	}
	if err != nil {
		return fault.Wrap(fmt.Sprintf("open port %d", p.Container), err, "")
	}
	s.Announce()
	return nil
}

// ClosePort closes what OpenPort has opened for a port of the container.
func (s *Session) ClosePort(container int) error {
	f, err := s.forwarder()
	if err == nil {
		err = f.Close(container)
	}
	if err != nil {
		return fault.Wrap("close port", err, "")
	}
	s.Announce()
	return nil
}

// note records in the audit what the person is about to do to the session.
func (s *Session) note(ctx context.Context, text string) error {
	log, _ := s.Audit()
	if log == nil {
		return fault.New("try again when the session's agent runs", "the session has no audit yet")
	}
	return log.Append(ctx, audit.Record{Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID, Reason: text})
}
