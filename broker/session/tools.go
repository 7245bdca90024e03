package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// serveTools serves the host's tools to the agent: the tool servers, each in its sandbox, behind the
// policy proxy. Starting the servers uses all processors for a second or two, so it begins only after
// the agent's first output or after quietStart. A client that connects earlier waits. The channel
// delivers one value: the result of starting the servers.
func (s *Session) serveTools(ctx context.Context, stack *teardown, log *audit.Log) (<-chan error, error) {
	engine, err := s.beginJudging(log)
	if err != nil {
		return nil, err
	}
	installed, err := servers.Install(ctx, s.deps.Config.CacheDir, func(detail string) {
		s.progress("installing the tool servers", detail)
	})
	if err != nil {
		return nil, err
	}
	listener, err := s.openListener(mux.Tools, s.layout.ToolSocket())
	if err != nil {
		return nil, err
	}
	building, cancel := context.WithCancel(ctx)
	own := &teardown{limit: stack.limit}
	own.push("close the tool socket", func(context.Context) error { return closeOnce(listener) })
	up, built := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(built)
		wait := quietStart
		if s.idle && s.adapter.Place == agent.InProcess {
			wait = 0 // a task's agent has no output
		}
		quiet := time.NewTimer(wait)
		defer quiet.Stop()
		select {
		case <-s.firstOutput:
		case <-quiet.C:
		case <-building.Done():
		}
		up <- s.buildTools(building, own, log, engine, installed, listener)
	}()
	stack.push("close the way to the tools", func(ctx context.Context) error {
		cancel()
		<-built
		return own.run(ctx)
	})
	return up, nil
}

// beginJudging makes the policy engine of the policy in force and sets it.
func (s *Session) beginJudging(log *audit.Log) (*policy.Engine, error) {
	s.judging.Lock()
	defer s.judging.Unlock()
	engine, err := s.engineOf(s.deps.PolicyInForce(), s.narrowings)
	if err == nil {
		s.UsePolicy(engine, log)
	}
	return engine, err
}

// UsePolicy sets the policy that judges the session's calls, and the audit that records them.
func (s *Session) UsePolicy(engine *policy.Engine, log *audit.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine, s.log = engine, log
}

// buildTools starts the tool servers and serves the agent's clients.
func (s *Session) buildTools(ctx context.Context, stack *teardown, log *audit.Log, engine *policy.Engine, installed servers.Dir, listener net.Listener) error {
	host, err := s.newSandboxes(ctx, installed)
	if err != nil {
		return err
	}
	stack.push("remove the sandboxes", func(context.Context) error { return host.Close() })
	if err := os.Symlink(host.Scratch(), s.layout.Scratch()); err != nil {
		return fmt.Errorf("note the sandboxes' directory: %w", err)
	}
	specs, err := s.toolServers(installed)
	if err != nil {
		return err
	}
	if err := dirtree.Remove(ctx, s.layout.Stages()); err != nil { // a killed process may have left some
		return fmt.Errorf("remove the stages of earlier calls: %w", err)
	}
	programs, only := s.programs()
	var workspace mcpproxy.Workspace
	if s.elsewhere != nil {
		workspace = s.elsewhere
	}
	proxy, err := mcpproxy.New(mcpproxy.Config{
		Workspace:         workspace,
		Session:           s.fixed.ID,
		Engine:            engine,
		Servers:           specs,
		Sandbox:           host,
		Approvals:         s.deps.Approvals,
		Grants:            s.deps.Grants,
		Orders:            s,
		Audit:             log,
		Preview:           s.previewer(),
		Commits:           s.commitsOf,
		StageDir:          s.layout.Stages(),
		Stopped:           s.outOfTime,
		Particulars:       s.particulars,
		EscalationTimeout: s.deps.Config.EscalationTimeout,
		Activity:          s.toolActivity,
		Secrets:           s.deps.Config.Secrets,
		Known:             s.deps.Tools,
		Builtins:          append(s.domainTools(), s.packageTools()...),
		Programs:          programs,
		OnlyPrograms:      only,
		Journals:          s.layout.Journals(),
		Past:              func(each func(audit.Line) error) error { return audit.Read(s.layout.Audit(), each) },
		Tickets:           true,
		Widen:             `add it to "reachable" in config.json and open a new tab`,
		Limits:            mcpproxy.Limits{Repeats: repeatLimit},
	})
	if err != nil {
		return err
	}
	stack.push("close the tool proxy", proxy.Close)
	if err := proxy.Start(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.tools = proxy
	now := s.engine
	proxy.Calm(s.calm)
	s.mu.Unlock()
	if now != engine {
		proxy.Reload(now)
	}
	served := s.serveClients("tools", proxy.Serve, listener)
	stack.push("stop serving tools", func(ctx context.Context) error {
		return errors.Join(proxy.Close(ctx), <-served)
	})
	return nil
}

// programs returns the runner of the agent's programs, nil if the agent makes none, and whether the
// agent can make calls only in programs.
func (s *Session) programs() (runner *codemode.Runner, only bool) {
	mode := s.deps.Config.CodeModes[s.adapter.Name]
	if s.adapter.Place == agent.InProcess {
		mode = codemode.Only
	}
	if mode != codemode.Beside && mode != codemode.Only {
		return nil, false
	}
	return codemode.NewRunner(s.deps.Config.CodeProgram, s.layout.Programs(), codemode.Limits{}), mode == codemode.Only
}

// particulars returns the lines that the agent is told about this session's tools.
func (s *Session) particulars() []string {
	c := s.deps.Config
	lines := []string{agent.Workspace + " is the same directory for these tools and for you."}
	if len(c.Reachable) > 0 {
		lines = append(lines, "Directories outside it that are open, too: "+strings.Join(c.Reachable, ", ")+".")
	}
	if len(c.GitHosts) > 0 {
		lines = append(lines, "Hosts that git can reach: "+strings.Join(c.GitHosts, ", ")+"; other hosts only during an approved call.")
	}
	lines = append(lines, fmt.Sprintf("The same call can be made %d times a minute.", repeatLimit))
	if b, ok := s.Budget(); ok && b.Part > 0 {
		lines = append(lines, fmt.Sprintf("%.0f %% of this session's budget is used; at 100 %% model requests are refused.", 100*b.Part))
	}
	return lines
}

// serveClients serves clients until the proxy is closed, and sends the result of serve on the channel,
// once. If serving fails, it tells the person what the agent cannot reach any more.
func (s *Session) serveClients(what string, serve func(net.Listener) error, l net.Listener) <-chan error {
	served := make(chan error, 1)
	go func() {
		err := serve(l)
		if err != nil {
			s.notice(true, fmt.Sprintf("the agent of this tab can no longer reach its %s: %v; /restart starts the agent again", what, err))
		}
		served <- err
	}()
	return served
}

// quietStart is how long the start of the tool servers waits for the agent's first output.
const quietStart = time.Second

// repeatLimit is how many equal calls an agent may make in a minute. More are probably a loop.
const repeatLimit = 20

// closeOnce closes a listener that may be closed already.
func closeOnce(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// engineOf makes a policy engine for this session's workspace.
func (s *Session) engineOf(f policy.Files, narrowings []policy.Narrowing) (*policy.Engine, error) {
	c := s.deps.Config
	engine, err := policy.New(policy.Config{
		Policy:      f.Policy,
		Annotations: f.Annotations,
		Lists:       f.Lists,
		Narrowings:  narrowings,
		Sandbox:     s.fixed.Workspace,
		Mount:       agent.Workspace,
		Home:        c.UserHome,
		Protected:   slices.Concat([]string{c.Home}, c.PolicyFiles, c.Protected, policyDirs(narrowings)),
		Unprotected: c.Unprotected,
		AgentDirs:   stored.AgentDirs(c.Home),
		GitFixed:    gitFixed(),
		Asking:      s.ownServers(),
		DomainAllow: s.ownDomains(),
		Attached:    s.borrowed(),
	})
	if err != nil {
		return nil, fmt.Errorf("prepare policy: %w", err)
	}
	return engine, nil
}

// newSandboxes prepares the sandboxes of this session's tool servers.
func (s *Session) newSandboxes(ctx context.Context, installed servers.Dir) (*sandbox.Host, error) {
	c := s.deps.Config
	runtime, err := installed.Argv("srt")
	if err != nil {
		return nil, err
	}
	return sandbox.New(ctx, sandbox.Options{
		Dir:       s.fixed.Workspace,
		Runtime:   runtime,
		Policy:    sandbox.Policy(c.SandboxPolicy),
		UserHome:  c.UserHome,
		StateHome: c.Home,
		Programs:  []string{installed.Path()},
		Readable:  slices.Concat(c.Reachable, s.borrowed()),
		Warn:      func(text string) { s.notice(true, text) },
	})
}

// toolActivity counts the agent's tool calls and tells the person of trouble.
func (s *Session) toolActivity(a mcpproxy.Activity) {
	switch a.Kind {
	case mcpproxy.CallBegan:
		s.count(func(t *tally) { t.calls++ })
	case mcpproxy.CallEnded:
		s.count(func(t *tally) { t.calls-- })
	case mcpproxy.ServerDown:
		s.notice(false, fmt.Sprintf("tool server %s has ended; it is started again when it is needed", a.Server))
	case mcpproxy.ServerFailed:
		s.sendNotice(Notice{Urgent: true, About: aboutServer(a.Server), Text: fmt.Sprintf("tool server %s could not be started: %s", a.Server, a.Detail)})
	case mcpproxy.ServerUp:
		s.retractNotice(aboutServer(a.Server))
	case mcpproxy.AcceptFailed:
		s.notice(true, fmt.Sprintf("the agent cannot reach its tools for now: %s; this is retried", a.Detail))
	case mcpproxy.CallUnasked:
		s.notice(true, fmt.Sprintf("too many calls wait for you; further ones of %s/%s are refused without asking", a.Server, a.Tool))
	case mcpproxy.CallFutile:
		s.notice(false, fmt.Sprintf("%s/%s was refused without asking you, because it could not take effect: %s", a.Server, a.Tool, a.Detail))
	case mcpproxy.CallGranted:
		s.notice(false, fmt.Sprintf("grant #%d lets %s/%s through; /grants lists them", a.Number, a.Server, a.Tool))
	case mcpproxy.CommitUnsigned:
		s.notice(true, fmt.Sprintf("%s/%s: %s", a.Server, a.Tool, a.Detail))
	case mcpproxy.WaitBegan, mcpproxy.WaitEnded:
		// The approval queue reports waiting calls, with all details.
	case mcpproxy.ToolsListed:
		s.count(func(t *tally) { t.connected = true })
	case mcpproxy.ClientCame, mcpproxy.ClientLeft, mcpproxy.ToolsChanged:
	}
}

// aboutServer returns the About of notices that a tool server does not run.
func aboutServer(name string) string { return "server " + name }
