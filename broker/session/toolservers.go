package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/remote/login"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Limits of the private memory of each process of the tool servers, in bytes. They are needed because
// an agent makes the files that the servers work on, and a few git trees can stand for billions of
// files. An idle filesystem server needs 80 MB less than filesMemory, an idle git server 40 MB less than
// gitServerMemory. Git needs 30 MB for the status of 100,000 files, 90 MB for the graph of 200,000
// commits, and 128 MB to fetch a file of 50 MB from a directory beside the repository.
const (
	filesMemory     = 192 << 20
	gitServerMemory = 224 << 20
	gitMemory       = 128 << 20
)

// toolServers lists the tool servers of a session.
func (s *Session) toolServers(installed servers.Dir) ([]sandbox.Spec, error) {
	c := s.deps.Config
	files, err := installed.Argv("filesystem")
	if err != nil {
		return nil, err
	}
	git, err := installed.Argv("git")
	if err != nil {
		return nil, err
	}
	open := append([]string{s.fixed.Workspace}, c.Reachable...)
	all := []sandbox.Spec{
		{
			Name:     "filesystem",
			Argv:     files,
			Version:  installed.Identify(files, nil),
			Sandbox:  servers.Sandbox{Filesystem: servers.Filesystem{AllowWrite: c.Reachable}},
			Roots:    open,
			RootArgs: true,
			Memory:   filesMemory,
			Staging:  &sandbox.Staging{Open: open},
		},
		{
			Name:     "git",
			Argv:     git,
			Env:      gitEnvironment(s.fixed.Workspace),
			Version:  installed.Identify(git, gitEnvironment("")), // the same for all workspaces
			Sandbox:  servers.Sandbox{Network: servers.Network{AllowedDomains: c.GitHosts}},
			Memory:   gitServerMemory,
			Programs: map[string]int64{"git": gitMemory},
			Staging: &sandbox.Staging{
				Open: []string{s.fixed.Workspace}, Whole: true, Base: gitBase,
				Seen: append(gitConfiguration(c.UserHome), s.borrowed()...),
			},
		},
	}
	if len(c.FetchServer) > 0 {
		all = append(all, sandbox.Spec{
			Name: "fetch", Argv: c.FetchServer, Version: installed.Identify(c.FetchServer, nil),
			Sandbox: servers.Sandbox{Network: servers.Network{Judged: true}},
			Memory:  fetchMemory,
		})
	}
	return append(all, s.ownSpecs()...), nil
}

// gitBase is the variable with the directory outside of which the git server refuses to work.
const gitBase = "GIT_BASE_DIR"

// gitSettings switch off programs that a repository can make git run.
var gitSettings = [][2]string{
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
}

// gitFrugal limit git's memory, and keep git from working in the background.
var gitFrugal = [][2]string{
	{"core.preloadIndex", "false"},
	{"index.threads", "1"},
	{"pack.threads", "1"},
	{"grep.threads", "1"},
	{"pack.windowMemory", "16m"},
	{"pack.deltaCacheSize", "8m"},
	{"core.bigFileThreshold", "16m"},
	{"core.deltaBaseCacheLimit", "16m"},
	{"core.packedGitWindowSize", "1m"},
	{"core.packedGitLimit", "32m"},
	{"gc.autoDetach", "false"},
}

// gitFixed returns the names of the settings that no repository can change for the git server.
func gitFixed() []string {
	var names []string
	for _, setting := range gitSettings {
		names = append(names, setting[0])
	}
	return names
}

// gitConfiguration returns the files of the person's git configuration. It names files and not
// directories, because files with logins can be beside them.
func gitConfiguration(home string) []string {
	dir := filepath.Join(home, ".config", "git")
	return []string{filepath.Join(home, ".gitconfig"), filepath.Join(dir, "config"), filepath.Join(dir, "ignore"), filepath.Join(dir, "attributes")}
}

// gitEnvironment returns the environment of the git server. It restricts the server to the workspace,
// and allows a repository that belongs to the container's user. It switches signing off, because the
// host signs: the sandbox has no key. Calls that only read take no lock, so that they do not make a
// concurrent change fail.
func gitEnvironment(workspace string) map[string]string {
	env := map[string]string{gitBase: workspace, "GIT_SIGN_COMMITS": "false", "GIT_OPTIONAL_LOCKS": "0", "MALLOC_ARENA_MAX": "1"}
	settings := slices.Concat([][2]string{{"safe.directory", workspace}, {"commit.gpgSign", "false"}}, gitSettings, gitFrugal)
	for i, setting := range settings {
		env[fmt.Sprintf("GIT_CONFIG_KEY_%d", i)] = setting[0]
		env[fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)] = setting[1]
		env["GIT_CONFIG_COUNT"] = fmt.Sprint(i + 1)
	}
	return env
}

// ServerCheck is the result of a trial start of a session's tool servers.
type ServerCheck struct {
	Tools  int      // how many tools an agent would be offered
	Hidden []string // the tools that no agent is offered, each with the reason
	Failed []string // the person's own servers that did not start, each with the reason
}

// CheckServers starts every tool server in its sandbox, as a session in an empty directory would, and
// compares the tools that they offer with the policy's annotations. It fails if the configuration
// enforces sandboxes and a sandbox lets a probe through.
func CheckServers(ctx context.Context, d *Deps) (found ServerCheck, err error) {
	dir, err := os.MkdirTemp("", "ironcurtain-check-")
	if err != nil {
		return found, fmt.Errorf("check the tool servers: %w", err)
	}
	defer os.RemoveAll(dir)
	s := &Session{deps: d, fixed: stored.Session{Workspace: stored.RealPath(dir)}}
	engine, err := s.engineOf(d.PolicyInForce(), nil)
	if err != nil {
		return found, err
	}
	installed, err := servers.Install(ctx, d.Config.CacheDir, nil)
	if err != nil {
		return found, err
	}
	host, err := s.newSandboxes(ctx, installed)
	if err != nil {
		return found, err
	}
	defer host.Close()
	if err := host.Unavailable(); err != nil {
		return found, err
	}
	specs, err := s.toolServers(installed)
	if err != nil {
		return found, err
	}
	proxy, err := mcpproxy.New(mcpproxy.Config{Engine: engine, Servers: specs, Sandbox: host, Audit: audit.Discard{}})
	if err != nil {
		return found, err
	}
	defer proxy.Close(context.WithoutCancel(ctx))
	if err := proxy.Start(ctx); err != nil {
		return found, err
	}
	proxy.AwaitOwn(ctx)
	found.Tools = proxy.Tools()
	for _, own := range proxy.Servers() {
		if own.Own && own.State != mcpproxy.ServerRunning {
			found.Failed = append(found.Failed, own.Name+": "+cmp.Or(own.Problem, "it did not answer in time"))
		}
	}
	hidden := proxy.Hidden()
	for _, name := range slices.Sorted(maps.Keys(hidden)) {
		found.Hidden = append(found.Hidden, name+": "+hidden[name])
	}
	return found, nil
}

// ownServers returns the names of the person's own servers in this session, sorted.
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

// ownSpecs returns the specifications of the person's own servers in this session.
func (s *Session) ownSpecs() []sandbox.Spec {
	var specs []sandbox.Spec
	for _, name := range s.ownServers() {
		specs = append(specs, s.ownSpec(name))
	}
	return specs
}

// ownSpec returns the specification of one of the person's own servers.
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

// RemoteSpec returns the specification of a server that is reached over HTTP. home is the state
// directory, which stores the person's login at the server.
func RemoteSpec(name string, c servers.Config, home, userHome string) sandbox.Spec {
	r := c.Remote()
	if c.LogsIn() {
		r.Login = login.NewStore(home, name, c.URL)
	}
	return sandbox.Spec{Name: name, Remote: r, Credentials: credentialsOf(c, userHome), Sandbox: servers.Sandbox{Off: true}}
}

// credentialsOf returns the function that resolves the credentials of a server.
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

// TurnServer stops a tool server, if it runs, and starts it again unless off is true.
func (s *Session) TurnServer(name string, off bool) error {
	op, turn := "restart server", (*mcpproxy.Proxy).Restart
	if off {
		op, turn = "turn server off", (*mcpproxy.Proxy).Disable
	}
	proxy, err := s.toolProxy()
	if err == nil {
		s.retractNotice(aboutServer(name)) // before the server can fail again
		err = turn(proxy, name)
	}
	return fault.Wrap(op, err, "/servers lists them")
}

// TakesServers returns an error if no server can be added to the session now.
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

// AddServer starts a server that the person has just added. All its calls are escalated.
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
		return nil, fault.New("wait until the tab is ready", "the session's tool servers do not run yet")
	}
	return s.tools, nil
}
