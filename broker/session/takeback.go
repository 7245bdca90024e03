package session

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// takeBack connects to the agent that still runs although its multiplexer was
// killed, or returns nil when there is none that could be served again. The
// agent lives on as it was; only its ways out are opened anew, on the same
// sockets.
func (s *Session) takeBack(ctx context.Context, stack *teardown, engine *docker.Client, log *audit.Log) (*takenBack, error) {
	if !s.resumed {
		return nil, nil
	}
	id, err := s.leftRunning(ctx, engine)
	if err != nil || id == "" {
		return nil, err
	}
	stack.push("remove what was left running", func(ctx context.Context) error { return s.clearStale(ctx, engine) })
	if len(s.adapter.Providers) > 0 {
		if s.identity, err = stored.KeptSecret(s.layout.Run); err != nil {
			s.deps.Log.Warn("an agent that still runs cannot be served again", "session", s.fixed.ID, "error", err)
			return nil, nil
		}
	}
	s.progress("taking back the agent that still runs", "")
	if err := log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID,
		Reason: "its multiplexer was killed; another one has taken the agent back; what was under way has ended without an answer, but for the calls that waited for a person",
	}); err != nil {
		return nil, err
	}
	var history bytes.Buffer
	if err := engine.Replay(ctx, id, &history); err != nil {
		return nil, err
	}
	container, err := engine.Attach(ctx, id)
	if err != nil {
		return nil, err
	}
	// A width that it does not have makes the agent draw everything anew once it
	// gets its own: the last bytes it wrote may be missing.
	if err := container.Resize(ctx, max(1, s.cols-1), max(1, s.rows)); err != nil {
		return nil, errors.Join(err, container.Close())
	}
	s.count(func(t *tally) { t.connected = true }) // it has listed the tools in its former life
	return &takenBack{Container: container, size: int64(history.Len()), history: &history, narrowed: time.Now()}, nil
}

// leftRunning is the session's container that still runs, or empty.
func (s *Session) leftRunning(ctx context.Context, engine *docker.Client) (string, error) {
	all, err := engine.List(ctx, map[string]string{stored.LabelSession: s.fixed.ID})
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if c.Running && c.Labels[docker.LabelLease] == s.layout.Lock() {
			return c.ID, nil
		}
	}
	return "", nil
}

// takenBack is the container of an agent that was taken back: its terminal begins
// with what was written to it before.
type takenBack struct {
	*docker.Container
	size     int64
	history  *bytes.Buffer // read by one reader only
	narrowed time.Time     // when it got a width that is not its own
}

// narrowTime is how long an agent is left with a width that is not its own.
// OpenCode looks at its size 100 ms after the last change, and draws nothing anew
// when it is back at what it was.
const narrowTime = 400 * time.Millisecond

func (t *takenBack) Resize(ctx context.Context, cols, rows int) error {
	wait := time.NewTimer(time.Until(t.narrowed.Add(narrowTime)))
	defer wait.Stop()
	select {
	case <-wait.C:
		return t.Container.Resize(ctx, cols, rows)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t *takenBack) Read(p []byte) (int, error) {
	if t.history != nil {
		if n, _ := t.history.Read(p); n > 0 {
			return n, nil
		}
		t.history = nil
	}
	return t.Container.Read(p)
}

// History is how many bytes of the terminal are of the agent's former life.
func (t *takenBack) History() int64 { return t.size }
