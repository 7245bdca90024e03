package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/embedded"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// labelWay is the label with a container's way; it is missing for sockets.
const labelWay = "ironcurtain.way"

// openListener returns a listener for connections from the container: of a kind over the stream, or,
// without a stream, on a socket at path.
func (s *Session) openListener(kind mux.Kind, path string) (net.Listener, error) {
	if s.stream != nil {
		return s.stream.Listener(kind), nil
	}
	return s.listen(path)
}

// startContainer starts the agent in a container. Which way works with the engine, and whether files
// are shared, must be found out by trying, because the engine's description does not say. A certain
// result is remembered.
func (s *Session) startContainer(ctx context.Context, stack *teardown, log *audit.Log, engine *docker.Client) (program, error) {
	s.progress("checking the agent image", s.adapter.Image)
	image, err := s.image(ctx, engine)
	if err != nil {
		return nil, err
	}
	files := s.filesOf(engine)
	for _, address := range s.layout.Away() {
		if files != reach.Copied || address != engine.Endpoint().Address {
			s.notice(true, "the latest files of the agent are only in volumes of the engine at "+address+": resume the session there, with --engine and copied files, to get them")
		}
	}
	if files == reach.Copied {
		return s.startCopied(ctx, stack, log, engine, image)
	}
	if err := s.chooseUser(ctx, engine, image); err != nil {
		return nil, err
	}
	running, unseen, err := s.startShared(ctx, stack, log, engine, image)
	var found reach.Found
	switch {
	case errors.Is(err, errNotShared):
		found = reach.Found{Way: reach.ByStream, Files: reach.Copied}
	case err == nil && unseen:
		found = reach.Found{Way: reach.ByStream, Files: reach.Shared}
	default:
		return running, err
	}
	if err := s.deps.Config.Ways.Remember(engine.Endpoint().Address, engine.Info().Version, found); err != nil {
		s.deps.Log.Warn("store the way to the engine: it will be found out again next time", "error", err)
	}
	return running, err
}

// startShared starts the agent in a container that shares this machine's files. It tries the engine's
// ways in order. unseen reports that this machine's sockets were found not to work in the container.
func (s *Session) startShared(ctx context.Context, stack *teardown, log *audit.Log, engine *docker.Client, image string) (running program, unseen bool, err error) {
	way, other := s.deps.Config.Ways.First(engine.Endpoint().Address, engine.Info().Version)
	if way == reach.Sockets {
		attempt := &teardown{limit: stack.limit}
		running, err := s.startByWay(ctx, way, attempt, log, engine, image)
		unseen = errors.Is(err, reach.ErrUnseen)
		if !other || !unseen && !errors.Is(err, reach.ErrSilent) && !errors.As(err, new(notStarted)) {
			stack.steps = append(stack.steps, attempt.steps...)
			return running, false, err
		}
		if err := errors.Join(attempt.run(ctx), stored.RemoveScratch(ctx, s.layout.Run)); err != nil {
			return nil, unseen, err
		}
		s.progress("connecting to the container without sockets", "")
	}
	running, err = s.startByWay(ctx, reach.ByStream, stack, log, engine, image)
	return running, unseen, err
}

// startByWay opens the two proxies and starts the agent in a container that is connected by the given
// way.
func (s *Session) startByWay(ctx context.Context, way reach.Way, stack *teardown, log *audit.Log, engine *docker.Client, image string) (program, error) {
	if way == reach.ByStream {
		s.openStream(stack)
	}
	launch, err := s.openProxies(ctx, stack, log, engine)
	if err != nil {
		return nil, err
	}
	bridgePath, err := embedded.Install(s.deps.Config.CacheDir, engine.Info().Architecture)
	if err != nil {
		return nil, err
	}
	spec := s.spec(image, launch)
	if err := s.mountShared(&spec, bridgePath); err != nil {
		return nil, err
	}
	s.fresh = true
	if way == reach.ByStream {
		return s.startByStream(ctx, engine, spec)
	}
	return s.startBySockets(ctx, engine, spec)
}

// openProxies opens the two proxies and the ports, writes the agent's files, and removes a former
// container. It returns how to launch the agent.
func (s *Session) openProxies(ctx context.Context, stack *teardown, log *audit.Log, engine *docker.Client) (agent.Launch, error) {
	proxy, err := s.serve(ctx, stack, log)
	if err != nil {
		return agent.Launch{}, err
	}
	if err := s.servePorts(ctx, stack); err != nil {
		return agent.Launch{}, err
	}
	launch, err := s.orient(ctx, proxy)
	if err != nil {
		return agent.Launch{}, err
	}
	if err := s.clearStale(ctx, engine); err != nil {
		return agent.Launch{}, err
	}
	s.progress("starting the container", "")
	launch.Env = append(append(launch.Env, proxy.environment...), s.registries.Environment()...)
	return launch, nil
}

// startBySockets starts a container with the host's sockets mounted. The agent starts after the host
// has accepted the bridge's report.
func (s *Session) startBySockets(ctx context.Context, engine *docker.Client, spec docker.Spec) (program, error) {
	reports, err := s.listen(s.layout.ReportSocket())
	if err != nil {
		return nil, err
	}
	container, err := engine.Start(ctx, spec)
	if err != nil {
		return nil, errors.Join(notStarted{err}, reports.Close()) // not container: a nil pointer in a program is not nil
	}
	if err := reach.Approve(ctx, reports, container, s.confinementCheck(spec, engine.Info())); err != nil {
		return nil, errors.Join(err, removeNow(ctx, container))
	}
	return container, nil
}

// notStarted is the error of an engine that did not start a container. Some refuse to mount sockets.
type notStarted struct{ error }

func (n notStarted) Unwrap() error { return n.error }

// openStream makes the stream that will connect with the container.
func (s *Session) openStream(stack *teardown) {
	stream := reach.NewStream()
	stack.push("close the stream", func(context.Context) error { return stream.Close() })
	s.mu.Lock()
	s.stream = stream
	s.mu.Unlock()
}

// startByStream starts a container without sockets and connects with it over the stream.
func (s *Session) startByStream(ctx context.Context, engine *docker.Client, spec docker.Spec) (program, error) {
	spec.Labels[labelWay] = string(reach.ByStream)
	handle, err := engine.StartDetached(ctx, spec)
	if errors.Is(err, docker.ErrSourceMissing) {
		return nil, fmt.Errorf("%w: %w", errNotShared, err)
	} else if err != nil {
		return nil, err
	}
	order := s.order(s.confinementCheck(spec, engine.Info()))
	if s.elsewhere != nil {
		order.Fill = func(ctx context.Context) error { return s.fill(ctx, engine.Info()) }
	}
	if err := s.stream.Begin(ctx, engine, handle, order); err != nil {
		return nil, errors.Join(err, removeNow(ctx, handle)) // the teardown closes the stream
	}
	return s.newOverStream(ctx, engine), nil
}

// order returns how the stream connects with a container. check judges the container's report.
func (s *Session) order(check func(report []byte) error) reach.Order {
	return reach.Order{
		User: s.inside.String(), Carry: []string{agent.Bridge, "carry"},
		Cols: s.cols, Rows: s.rows,
		Check: check,
		Tell:  func(text string) { s.notice(true, text) },
	}
}

// removeNow removes a container that is not needed any more, even if ctx has ended.
func removeNow(ctx context.Context, c interface{ Remove(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineAwayLimit)
	defer cancel()
	if err := c.Remove(ctx); err != nil {
		return fmt.Errorf("remove the container: %w", err)
	}
	return nil
}

// hangUpLimit is how long an agent may take to end after its terminal was hung up. What it has written
// by then is fetched.
const hangUpLimit = 3 * time.Second

// overStream is an agent that is reached over a stream. If its files are copies, they are fetched
// before its container is removed.
type overStream struct {
	*reach.Stream
	cols, rows int           // of the terminal before the agent was taken back; 0: not known
	fetchOnce  func() error  // fetches the files for the last time; nil: the files are shared
	ended      chan struct{} // closed when the agent has ended; nil if fetchOnce is
	watching   sync.WaitGroup
}

// newOverStream returns the agent to which the session's stream is connected.
func (s *Session) newOverStream(ctx context.Context, engine *docker.Client) *overStream {
	s.SetFar(engineHost(engine.Endpoint().Address), s.elsewhere != nil, s.stream)
	o := &overStream{Stream: s.stream}
	if s.elsewhere == nil {
		return o
	}
	o.fetchOnce = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
		defer cancel()
		return s.fetchLast(ctx, engine.Endpoint().Address)
	})
	o.ended = make(chan struct{})
	o.watching.Go(func() {
		if o.AwaitExit() {
			close(o.ended)
			_ = o.fetchOnce()
		}
	})
	return o
}

// fetchLast fetches the files of an agent that has ended or is about to, and notes for the engine at
// that address that they are here.
func (s *Session) fetchLast(ctx context.Context, engine string) error {
	err := s.elsewhere.Finish(ctx)
	if err == nil {
		err = s.layout.NoteReturned(engine)
	}
	if err != nil {
		s.notice(true, "some files that the agent has written were not copied to this machine: "+describe(err))
	}
	return err
}

// FormerSize returns the size of the terminal before the agent was taken back; 0: not known.
func (o *overStream) FormerSize() (cols, rows int) { return o.cols, o.rows }

// hangUp hangs up the agent's terminal and waits until the agent has ended, for hangUpLimit at most:
// the agent may save its state before its files are fetched.
func (o *overStream) hangUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hangUpLimit)
	defer cancel()
	select {
	case <-o.ended:
		return
	default:
	}
	if o.HangUp(ctx) != nil {
		return // the engine is away, or the container is gone
	}
	select {
	case <-o.ended:
	case <-ctx.Done():
	}
}

// fetchLast ends the agent and fetches its files, if they are copies. It fetches them only once.
func (o *overStream) fetchLast(ctx context.Context) {
	if o.fetchOnce != nil {
		o.hangUp(ctx)
		_ = o.fetchOnce() // Session.fetchLast has told the person about an error
	}
}

// Remove ends the agent, fetches its files and removes its container. Files that could not be fetched
// are not an error here: they stay in the volumes, and reportCopy tells the person.
func (o *overStream) Remove(ctx context.Context) error {
	o.fetchLast(ctx)
	err := o.Stream.Remove(ctx)
	o.watching.Wait()
	return err
}

// Close disconnects from the agent, which keeps running.
func (o *overStream) Close() error {
	err := o.Stream.Close()
	o.watching.Wait()
	return err
}
