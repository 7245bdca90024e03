package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// takeBack connects to the session's agent if that still runs although its multiplexer was killed. It
// returns nil if no agent runs, or if the agent cannot be served again. The agent is not disturbed; the
// caller opens the proxies again, on the same sockets.
func (s *Session) takeBack(ctx context.Context, stack *teardown, engine *docker.Client, log *audit.Log) (attached, error) {
	if !s.resumed {
		return nil, nil
	}
	left, err := s.leftRunning(ctx, engine)
	if err != nil || left == nil {
		return nil, err
	}
	id := left.ID
	s.setInside(insideLabeled(s.owner, left.Labels))
	elsewhere := left.Labels[labelFiles] == string(reach.Copied)
	stack.push("remove the container that was left running", func(ctx context.Context) error { return s.clearStale(ctx, engine) })
	if s.hasWayOut() {
		if s.identity, err = stored.KeptSecret(s.layout.Run); err != nil {
			s.deps.Log.Warn("read the former proxy's identity: the running agent cannot be served again", "session", s.fixed.ID, "error", err)
			return nil, nil
		}
	}
	s.progress("taking back the agent that still runs", "")
	if err := log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID,
		Reason: s.takenBackFrom() + "; calls and requests that were under way have ended without an answer, except calls that waited for a person",
	}); err != nil {
		return nil, err
	}
	switch {
	case left.Labels[labelWay] == string(reach.ByStream):
		return s.takeBackByStream(ctx, stack, engine, id, elsewhere)
	case s.kept != nil:
		return s.continueTerminal(engine, id)
	}
	return s.attachAgain(ctx, engine, id)
}

// attached is the terminal of an agent that was taken back.
type attached interface {
	program
	Close() error
}

// takeBackByStream connects again to an agent that is reached over a stream. The bridge sends the
// agent's earlier output.
func (s *Session) takeBackByStream(ctx context.Context, stack *teardown, engine *docker.Client, id string, elsewhere bool) (*overStream, error) {
	handle, err := engine.Running(ctx, id)
	if err != nil {
		return nil, err
	}
	s.openStream(stack)
	if elsewhere {
		if err := s.openElsewhere(stack, engine); err != nil {
			return nil, err
		}
	}
	cols, rows := stored.ReadSize(s.layout)
	order := s.order(s.confinementCheckAgain(engine.Info()))
	order.Cols, order.Rows = cmp.Or(cols, s.cols), cmp.Or(rows, s.rows)
	if k := s.kept; k != nil {
		order.Cols, order.Rows, order.Have, order.Ahead, order.Past = k.Cols, k.Rows, k.Have, k.Ahead, k.Past
	}
	late, cancel := s.lateContext(ctx)
	defer cancel()
	if err := s.stream.Begin(late, engine, handle, order); err != nil {
		return nil, err
	}
	s.connectedBefore()
	again := s.newOverStream(ctx, engine)
	again.cols, again.rows = cols, rows
	return again, nil
}

// fetchLeft fetches the files of an agent that still runs and was not taken back, if they are copies.
// It does nothing if start has connected to them.
func (s *Session) fetchLeft(ctx context.Context, engine *docker.Client) error {
	if s.elsewhere != nil || !s.layout.HasAway() {
		return nil
	}
	left, err := s.leftRunning(ctx, engine)
	if err != nil || left == nil || left.Labels[labelFiles] != string(reach.Copied) {
		return err
	}
	s.setInside(insideLabeled(s.owner, left.Labels))
	stack := &teardown{limit: engineAwayLimit}
	agent, err := s.takeBackByStream(ctx, stack, engine, left.ID, true)
	if err == nil {
		agent.fetchLast(ctx)
		err = agent.Close()
	}
	return errors.Join(err, stack.run(ctx))
}

// lateReach is how much time there still is to connect to an agent again after its session was told to
// end. Copied files that the agent has written can be fetched only over that connection.
const lateReach = 5 * time.Second

// lateContext returns a context that ends lateReach after ctx, or as soon as the process must end.
func (s *Session) lateContext(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	end := time.AfterFunc(time.Hour, func() { cancel(context.Cause(ctx)) }) // reset when ctx ends
	stop := context.AfterFunc(ctx, func() { end.Reset(lateReach) })
	hurry := context.AfterFunc(s.deps.Hurried, func() { cancel(context.Canceled) })
	return late, func() { stop(); hurry(); end.Stop(); cancel(nil) }
}

// attachAgain attaches to a container's terminal again, and reads its earlier output.
func (s *Session) attachAgain(ctx context.Context, engine *docker.Client, id string) (attached, error) {
	var history bytes.Buffer
	if err := engine.Replay(ctx, id, &history); err != nil {
		return nil, err
	}
	container, err := engine.Attach(ctx, id)
	if err != nil {
		return nil, err
	}
	cols, rows := stored.ReadSize(s.layout)
	// Setting another width first makes the agent redraw everything when it gets its real width. That
	// is needed because the last bytes of its output may be missing from the history.
	if err := container.Resize(ctx, max(1, cmp.Or(cols, s.cols)-1), max(1, cmp.Or(rows, s.rows))); err != nil {
		return nil, errors.Join(err, container.Close())
	}
	s.connectedBefore()
	return &takenBack{Container: container, past: int64(history.Len()), history: &history, narrowed: time.Now(), cols: cols, rows: rows}, nil
}

// restoreGrants restores the grants that the session had when its multiplexer was killed, because the
// session's life continues. Each ends when it would have ended anyway.
func (s *Session) restoreGrants(ctx context.Context, log *audit.Log) error {
	if !s.resumed || s.kept != nil { // another program has handed the grants over
		return nil
	}
	grants, err := s.deps.Grants.Restore(s.fixed.ID)
	if err != nil {
		s.deps.Log.Warn("restore the session's grants", "session", s.fixed.ID, "error", err)
	}
	for _, g := range grants {
		if err := log.Append(ctx, audit.Record{
			Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID, DecidedBy: g.By, Client: g.Client, EscalationID: g.Escalation,
			Reason: "a grant stays in force, until " + g.ExpiresAt.UTC().Format(time.RFC3339),
			Detail: map[string]any{"grant": g.Number, "scope": string(g.Scope), "used": g.Used},
		}); err != nil {
			return err
		}
	}
	return nil
}

// connectedBefore sets that the agent is connected to its tools, as it was before it was taken back.
func (s *Session) connectedBefore() { s.count(func(t *tally) { t.connected = true }) }

// takenBackFrom returns, for the record, what happened to the agent's last multiplexer.
func (s *Session) takenBackFrom() string {
	if s.kept != nil {
		return "the agent's multiplexer became another program, which has taken the agent back"
	}
	return "the agent's multiplexer was killed; another one has taken the agent back"
}

// leftRunning returns the session's container that still runs, or nil.
func (s *Session) leftRunning(ctx context.Context, engine *docker.Client) (*docker.Summary, error) {
	all, err := engine.List(ctx, map[string]string{stored.LabelSession: s.fixed.ID})
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.Running && c.Labels[docker.LabelLease] == s.layout.Lock() {
			return &c, nil
		}
	}
	return nil, nil
}

// takenBack is the container of an agent that was taken back. Read returns the earlier output first.
type takenBack struct {
	*docker.Container
	past       int64         // bytes of history
	history    *bytes.Buffer // used by one reader only
	narrowed   time.Time     // when attachAgain set the other width
	cols, rows int           // of the terminal before the kill; 0: not known
}

// narrowTime is how long an agent must have the other width. OpenCode reads its size 100 ms after the
// last change, and redraws nothing if it finds its old size.
const narrowTime = 400 * time.Millisecond

// Resize waits until narrowTime is over and then sets the size.
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

// History returns how many of the first bytes of output are from before the agent was taken back.
func (t *takenBack) History() int64 { return t.past }

// FormerSize returns the size of the terminal before the agent was taken back; 0: not known.
func (t *takenBack) FormerSize() (cols, rows int) { return t.cols, t.rows }
