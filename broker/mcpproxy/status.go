package mcpproxy

import (
	"fmt"
	"strings"
)

// ServerState says whether a server runs.
type ServerState string

// The states of a server.
const (
	ServerRunning  ServerState = "running"
	ServerStarting ServerState = "starting" // or started again after its end
	ServerStopped  ServerState = "stopped"  // until a call needs it
	ServerBroken   ServerState = "failed"   // it did not start; Problem says why
	ServerOff      ServerState = "off"      // a person has turned it off
)

// ServerStatus describes a server.
type ServerStatus struct {
	Name    string            `json:"name"`
	State   ServerState       `json:"state"`
	Problem string            `json:"problem,omitempty"` // why it failed
	Tools   int               `json:"tools"`             // that are offered to the agent
	Hidden  map[string]string `json:"hidden,omitempty"`  // why other tools are not, by their names
	Changed map[string]string `json:"changed,omitempty"` // how tools differ from those that were annotated, by their names
	Own     bool              `json:"own"`               // one of the person's, beside those that the product brings
}

// Servers returns the state of all servers.
func (p *Proxy) Servers() []ServerStatus {
	c := p.catalog.Load()
	all := []ServerStatus{}
	for _, b := range p.servers() {
		s := b.status()
		for _, t := range c.byName {
			if t.server == s.Name {
				s.Tools++
			}
		}
		s.Hidden, s.Changed = ofServer(c.hidden, s.Name), ofServer(c.changed, s.Name)
		all = append(all, s)
	}
	return all
}

// ofServer returns the entries of one server's tools, by the tools' names; nil if there are none.
func ofServer(all map[target]string, server string) map[string]string {
	var some map[string]string
	for t, what := range all {
		if t.server == server {
			if some == nil {
				some = map[string]string{}
			}
			some[t.tool] = what
		}
	}
	return some
}

func (b *backend) status() ServerStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := ServerStatus{Name: b.spec.Name, Own: b.spec.Own}
	switch {
	case b.off:
		s.State = ServerOff
	case b.conn != nil:
		s.State = ServerRunning
	case b.demand.starting != nil || !b.demand.stopped:
		s.State = ServerStarting
	case b.demand.failure != nil:
		s.State, s.Problem = ServerBroken, b.demand.failure.Error()
	default:
		s.State = ServerStopped
	}
	return s
}

// Restart ends a server, if it runs, and starts it again, without waiting for it. Calls
// that it works on fail. It also turns on again what Disable has turned off.
func (p *Proxy) Restart(server string) error { return p.turn(server, false) }

// Disable ends a server and no longer offers its tools, until Restart. Calls that it works on fail,
// and so do calls of it that wait for a person.
func (p *Proxy) Disable(server string) error { return p.turn(server, true) }

func (p *Proxy) turn(server string, off bool) error {
	b := p.backend(server)
	if b == nil {
		var names []string
		for _, b := range p.servers() {
			names = append(names, b.spec.Name)
		}
		return fmt.Errorf("there is no server %q; there are: %s", server, strings.Join(names, ", "))
	}
	b.mu.Lock()
	b.off = off
	sc := b.conn
	b.mu.Unlock()
	p.rebuild()
	if sc != nil {
		sc.peer.Stop() // the goroutine that keeps it running starts it again, unless it is off
	} else if !off {
		b.startAhead()
	}
	return nil
}

// ActivityKind is the kind of an Activity.
type ActivityKind string

// The kinds of activity.
const (
	CallBegan      ActivityKind = "call-began"
	CallEnded      ActivityKind = "call-ended"
	WaitBegan      ActivityKind = "wait-began" // for a person
	WaitEnded      ActivityKind = "wait-ended"
	ClientCame     ActivityKind = "client-came"
	ClientLeft     ActivityKind = "client-left"
	ToolsListed    ActivityKind = "tools-listed" // a client has been told what there is
	ServerUp       ActivityKind = "server-up"
	ServerDown     ActivityKind = "server-down"
	ServerFailed   ActivityKind = "server-failed" // a call needed it and it did not start; Detail says why
	ToolsChanged   ActivityKind = "tools-changed"
	CallGranted    ActivityKind = "call-granted"    // by a grant; Number names it
	AcceptFailed   ActivityKind = "accept-failed"   // a client could not be let in for now; Detail says why
	CallFutile     ActivityKind = "call-futile"     // refused without asking, because it could not take effect; Detail says why
	CommitUnsigned ActivityKind = "commit-unsigned" // the person's git signs commits, and this one is not signed; Detail says why
	CallUnasked    ActivityKind = "call-unasked"    // refused because too many ask, and none like it waits
)

// Activity is one event in the proxy.
type Activity struct {
	Kind   ActivityKind
	Server string
	Tool   string
	Detail string
	Number int // of the grant that let a call through
}
