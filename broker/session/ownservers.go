package session

import (
	"context"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/remote/login"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ownServers returns the names of the person's own servers that this session has, in order.
func (s *Session) ownServers() []string {
	var names []string
	all := s.deps.servers()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].For(s.fixed.Agent) {
			names = append(names, name)
		}
	}
	return names
}

// ownDomains returns the hosts that the sandboxes of the person's own servers let them reach.
func (s *Session) ownDomains() map[string][]string {
	all := map[string][]string{}
	for _, name := range s.ownServers() {
		if hosts := s.deps.servers()[name].Sandbox.Network.AllowedDomains; len(hosts) > 0 {
			all[name] = hosts
		}
	}
	return all
}

// ownSpecs returns the person's own servers.
func (s *Session) ownSpecs() []sandbox.Spec {
	var specs []sandbox.Spec
	for _, name := range s.ownServers() {
		specs = append(specs, s.ownSpec(name))
	}
	return specs
}

// ownSpec returns one of the person's own servers.
func (s *Session) ownSpec(name string) sandbox.Spec {
	c := s.deps.servers()[name]
	if c.Remote() != nil {
		spec := RemoteSpec(name, c, s.deps.Config.Home, s.deps.Config.UserHome)
		spec.Own = true
		return spec
	}
	return sandbox.Spec{
		Name: name, Argv: append([]string{c.Command}, c.Args...), Env: c.Env, Sandbox: c.Sandbox,
		Credentials: credentialsOf(c, s.deps.Config.UserHome),
		Roots:       []string{s.fixed.Workspace}, Own: true,
	}
}

// RemoteSpec returns a server that is reached over HTTP. home is the directory of the state,
// which has the person's login at the server.
func RemoteSpec(name string, c servers.Config, home, userHome string) sandbox.Spec {
	r := c.Remote()
	if c.LogsIn() {
		r.Login = login.NewStore(home, name, c.URL)
	}
	return sandbox.Spec{Name: name, Remote: r, Credentials: credentialsOf(c, userHome), Sandbox: servers.Sandbox{Off: true}}
}

// credentialsOf returns the function that finds the credentials of a server.
func credentialsOf(c servers.Config, userHome string) func(context.Context) (map[string]string, error) {
	return func(ctx context.Context) (map[string]string, error) { return c.Find(ctx, userHome) }
}

// Servers returns the state of the session's tool servers; none while they are not started.
func (s *Session) Servers() []mcpproxy.ServerStatus {
	s.mu.Lock()
	proxy := s.tools
	s.mu.Unlock()
	if proxy == nil {
		return nil
	}
	return proxy.Servers()
}

// TurnServer ends a tool server, if it runs, and starts it again unless it is to be off.
func (s *Session) TurnServer(name string, off bool) error {
	op, turn := "restart server", (*mcpproxy.Proxy).Restart
	if off {
		op, turn = "turn server off", (*mcpproxy.Proxy).Disable
	}
	proxy, err := s.toolProxy()
	if err == nil {
		s.unsay(aboutServer(name)) // before it can fail again
		err = turn(proxy, name)
	}
	return fault.Wrap(op, err, "/servers lists them")
}

// TakesServers returns why no server could be added to the session, or nil.
func (s *Session) TakesServers() error {
	_, err := s.toolProxy()
	return err
}

// ConfigureServer writes a server to config.json. Its name must be new in this session.
func (s *Session) ConfigureServer(name string, words []string) (servers.Config, error) {
	if s.deps.Config.AddServer == nil {
		return servers.Config{}, fault.New("", "this multiplexer has no configuration file")
	}
	return s.deps.Config.AddServer(name, words)
}

// AddServer starts a server that the person has just added. All its calls ask.
func (s *Session) AddServer(ctx context.Context, name string, c servers.Config) error {
	proxy, err := s.toolProxy()
	if err != nil {
		return err
	}
	s.deps.Know(name, c)
	judged, err := s.PrepareReload(s.deps.PolicyInForce()) // so that the policy knows the server
	if err == nil {
		err = s.note(ctx, "the person adds the tool server "+name)
	}
	if err != nil {
		return err
	}
	judged.Apply()
	return proxy.Add(s.ownSpec(name))
}

func (s *Session) toolProxy() (*mcpproxy.Proxy, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		return nil, fault.New("wait until the tab is ready", "the session's tool servers do not run")
	}
	return s.tools, nil
}
