package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// start makes everything that a session needs, in the order of dependency: directories, lease, audit,
// image, the two proxies with their sockets, the agent's files, container. It pushes on stack how to
// undo each step, so that a failure at any step leaves nothing behind. If the engine is found not to
// see this machine's files, it starts again, with copies.
func (s *Session) start(ctx context.Context, stack *teardown) (running program, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			if taken, ok := running.(*overStream); ok {
				taken.fetchLast(context.WithoutCancel(ctx))
			}
			err = errors.Join(err, s.endLeftRunning(ctx))
		}
	}()
	attempt := &teardown{limit: stack.limit}
	running, err = s.startOnce(ctx, attempt)
	if errors.Is(err, errNotShared) && s.needsCopies(ctx) {
		if err := attempt.run(ctx); err != nil {
			return nil, err
		}
		s.progress("copying files, because the engine does not see this machine's", "")
		running, err = s.startOnce(ctx, attempt)
	}
	stack.steps = append(stack.steps, attempt.steps...)
	return running, err
}

// startOnce is one attempt of start.
func (s *Session) startOnce(ctx context.Context, stack *teardown) (program, error) {
	s.progress("preparing the session", "")
	if err := s.prepare(ctx, stack); err != nil {
		return nil, err
	}
	log, err := s.openAudit(stack)
	if err != nil {
		return nil, err
	}
	engine, err := s.deps.Engine(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := s.takeBack(ctx, stack, engine, log)
	if err != nil {
		return nil, err
	}
	if taken != nil {
		stack.push("detach", func(context.Context) error { return taken.Close() })
		return taken, s.serveTaken(ctx, stack, log)
	}
	if err := errors.Join(s.settleWaiting(ctx, log), s.deps.Grants.Close(s.fixed.ID)); err != nil {
		return nil, err
	}
	return s.startContainer(ctx, stack, log, engine)
}

// serveTaken serves an agent that was taken back, as its former multiplexer did.
func (s *Session) serveTaken(ctx context.Context, stack *teardown, log *audit.Log) error {
	if err := s.restoreWaiting(ctx, stack, log); err != nil {
		return err
	}
	if err := s.restoreGrants(ctx, log); err != nil {
		return err
	}
	if _, err := s.serve(ctx, stack, log); err != nil {
		return err
	}
	return s.servePorts(ctx, stack)
}

// endLeftRunning ends the agent that still runs from a former life, if the person ends the session
// before the agent was taken back. It fetches the agent's files first, if they are copies.
func (s *Session) endLeftRunning(ctx context.Context) error {
	if !s.resumed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineAwayLimit)
	defer cancel()
	engine, err := s.deps.Engine(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.fetchLeft(ctx, engine), s.clearStale(ctx, engine))
}

// serve opens the two proxies, and returns what the agent needs to reach its provider.
func (s *Session) serve(ctx context.Context, stack *teardown, log *audit.Log) (p provider, err error) {
	s.progress("preparing the tool servers", "")
	if s.toolsUp, err = s.serveTools(ctx, stack, log); err != nil {
		return provider{}, err
	}
	return s.serveProvider(ctx, stack, log)
}

// image builds or fetches the agent's image if it is missing, and returns its name.
func (s *Session) image(ctx context.Context, engine *docker.Client) (string, error) {
	recipe, err := s.recipe()
	if err != nil {
		return "", err
	}
	options := docker.BuildOptions{
		CacheDir: s.deps.Config.CacheDir,
		Base:     s.deps.Config.Images.From,
		Recipe:   recipe,
		OnProgress: func(p docker.Progress) {
			step := fmt.Sprintf("%s (step %d of %d)", p.Title, p.Step, p.Steps)
			s.reportProgress(s.starting.next(time.Now(), step, p.Detail, p.Passing))
		},
	}
	if s.adapter.Foreign {
		return s.adapter.Image, engine.FetchImage(ctx, s.adapter.Image, options)
	}
	return engine.EnsureImage(ctx, s.adapter.Image, options)
}

// openAudit opens the session's audit.
func (s *Session) openAudit(stack *teardown) (*audit.Log, error) {
	log, err := audit.Open(s.layout.Audit(), audit.Options{
		Secrets: s.deps.Config.Secrets,
		State:   s.auditState,
	})
	if err != nil {
		return nil, err
	}
	stack.push("close the audit", func(context.Context) error { return log.Close() })
	return log, nil
}

// prepare claims the session's directory and makes the directories that the container gets, including
// the workspace.
func (s *Session) prepare(ctx context.Context, stack *teardown) error {
	if err := s.claim(); err != nil {
		return err
	}
	stack.push("remove the sockets", s.layout.Remove)
	if err := errors.Join(s.layout.Make(s.owner), stored.RemoveScratch(ctx, s.layout.Run)); err != nil {
		return fmt.Errorf("prepare session: %w", err)
	}
	if furnish := s.deps.Config.Furnish; furnish != nil && s.fixed.Workspace == s.layout.Sandbox() {
		if err := furnish(ctx, s.layout.Sandbox(), !s.resumed); err != nil {
			return fmt.Errorf("fill the workspace: %w", err)
		}
	}
	if err := s.copyWorkspace(ctx); err != nil {
		return err
	}
	s.attachments.Dir, s.attachments.Temporary = s.layout.Attachments(), s.layout.Dir
	if err := s.checkRepository(); err != nil {
		return err
	}
	stack.push("examine what the agent has left", func(left context.Context) error {
		most := stored.LookTime
		if ctx.Err() != nil { // somebody has ended the session and waits for this
			most = stored.EndLookTime
		}
		return errors.Join(s.disarm(), s.reportObeyed(left, most), s.reportCopy(left, most))
	})
	if err := errors.Join(s.makeWorktree(ctx, stack), s.noteUnexaminedCopy()); err != nil {
		return err
	}
	if err := s.makePassage(); err != nil {
		return err
	}
	switch {
	case s.fixed.Worktree != nil || stored.ManagedWorkspace(stored.RealPath(s.deps.Config.Home), stored.RealPath(s.fixed.Workspace)):
		if err := s.shareWorkspace(ctx); err != nil {
			return err
		}
	case os.Geteuid() == 0 && s.Contained():
		s.notice(true, "the agent is not root, so in this workspace it can change only files that everybody may change; run the multiplexer as an ordinary user instead")
	}
	if err := s.noteObeyed(ctx); err != nil {
		return err
	}
	if err := s.fillRepository(ctx, stack); err != nil {
		return err
	}
	if err := s.pinRemotes(); err != nil {
		return err
	}
	return s.save()
}

// claim makes the session's directory and acquires its lease, which shows other processes that the
// session has an owner. Resume has acquired the lease of a resumed session already.
func (s *Session) claim() error {
	if err := s.layout.Fits(); err != nil {
		return fmt.Errorf("prepare session: %w", err)
	}
	if err := stored.PrivateDir(s.layout.Dir); err != nil {
		return fmt.Errorf("prepare session: %w", err)
	}
	if s.lease == nil {
		lease, err := docker.AcquireLease(s.layout.Lock())
		if err != nil {
			return err
		}
		s.lease = lease
	}
	return nil
}

// Release releases the lease of the session's directory.
func (s *Session) Release() error {
	if s.lease == nil {
		return nil
	}
	err := s.lease.Release()
	s.lease = nil
	return err
}

// listen listens on one of the session's sockets, which only the container's user may connect to.
func (s *Session) listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(s.deps.Context, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), s.owner.Own(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("open socket: %w", err), l.Close())
	}
	return l, nil
}

// caFile is the file of the session's certificate authority in the orientation directory.
const caFile = "ca.crt"

// orient writes the files that the agent needs at its start, and returns its command.
func (s *Session) orient(ctx context.Context, p provider) (agent.Launch, error) {
	launch, err := s.launch(agent.Host{
		Sentinels:    p.sentinels,
		KeyVariables: s.deps.Config.keyVariables(),
		Logins:       p.logins,
		Conversation: s.fixed.ID,
		Resume:       s.adapter.Conversation(s.layout.Home(), s.fixed.ID).Begun,
		Prompt:       agent.Prompt() + s.deps.Config.GitHub.prompt(),
		Model:        s.deps.Config.Models[s.adapter.Name],
		Root:         s.inside.root(),
	})
	if err != nil {
		return agent.Launch{}, fmt.Errorf("prepare agent: %w", err)
	}
	files := append(launch.Files, agent.File{
		Path: caFile, Data: p.certificate, Mode: 0o444, Orientation: true,
	})
	files = append(files, s.registryFiles()...)
	files = append(files, agent.Accounts(s.inside.uid, s.inside.gid)...)
	if err := s.layout.Write(ctx, files, s.owner); err != nil {
		return agent.Launch{}, fmt.Errorf("prepare agent: %w", err)
	}
	s.written = map[string]bool{}
	for _, f := range files {
		s.written[f.Path] = s.written[f.Path] || !f.Orientation && !f.Keep
	}
	return launch, nil
}

// containerName returns the name of the session's container.
func (s *Session) containerName() string {
	return "ironcurtain-" + string(s.fixed.ID[:8]) + string(s.fixed.ID[9:13])
}

// spec returns the container's specification without its files. The container trusts only the
// session's own certificate authority, so that only the proxy can answer the agent over TLS.
func (s *Session) spec(image string, launch agent.Launch) docker.Spec {
	spec := docker.Spec{
		Image:      image,
		Name:       s.containerName(),
		Cmd:        agent.Command(s.withSetup(launch.Argv)),
		Env:        append(agent.Environment(), launch.Env...),
		User:       s.inside.String(),
		WorkingDir: agent.Workspace,
		Hostname:   "ironcurtain",
		Labels:     s.labels(),
		MemoryMB:   s.deps.Config.Resources.MemoryMB,
		CPUs:       s.deps.Config.Resources.CPUs,
		Pids:       s.deps.Config.Resources.Pids,
		Runtime:    s.deps.Config.Runtime,
		Cols:       s.cols,
		Rows:       s.rows,
		Waits:      true, // no program of the image may run before the bridge has reported
	}
	if s.stream != nil {
		spec.Cmd, spec.Detached = agent.KeptCommand(s.withSetup(launch.Argv)), true
	}
	return spec
}

// labels returns the labels that say which session a container belongs to and who owns it.
func (s *Session) labels() map[string]string {
	labels := s.lease.Labels()
	labels[stored.LabelSession] = s.fixed.ID
	if s.inside.root() {
		labels[labelUser] = s.inside.String()
	}
	return labels
}
