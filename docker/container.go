package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Container is a running container and the attachment to its terminal. One goroutine
// may read while another writes; all other methods may be called at any time.
type Container struct {
	client *Client
	id     string
	tty    bool
	life   context.Context // ends with Close
	detach context.CancelFunc

	renewing sync.Mutex // held by renew, so that one goroutine at a time attaches again

	mu         sync.Mutex
	stream     *stream
	cols, rows int // the last size set by Resize; 0 before the first
}

func newContainer(c *Client, id string, tty bool, st *stream) *Container {
	ct := &Container{client: c, id: id, tty: tty, stream: st}
	ct.life, ct.detach = context.WithCancel(context.Background())
	return ct
}

// ID returns the engine's identifier of the container.
func (ct *Container) ID() string { return ct.id }

// Read returns what the agent wrote. io.EOF means that the agent has ended. When the
// engine stops, Read waits until it is back. After Close it fails.
func (ct *Container) Read(p []byte) (int, error) {
	for {
		st := ct.current()
		n, err := st.Read(p)
		if n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !ct.renew(st) {
			return n, err
		}
	}
}

// Write passes all bytes to the agent, unchanged. When the engine stops, Write waits
// until it is back.
func (ct *Container) Write(p []byte) (int, error) {
	for sent := 0; ; {
		st := ct.current()
		n, err := st.Write(p[sent:])
		sent += n
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || !ct.renew(st) {
			return sent, err
		}
	}
}

// TryWrite writes as many bytes as the engine takes without blocking and returns their
// number. It writes none over a connection that does not support this.
func (ct *Container) TryWrite(p []byte) (int, error) { return ct.current().TryWrite(p) }

// Close detaches; the agent goes on. It may be called more than once.
func (ct *Container) Close() error {
	ct.mu.Lock()
	ct.detach()
	st := ct.stream
	ct.mu.Unlock()
	return st.Close()
}

// Resize sets the size of the terminal. It fails with ErrNotRunning when the
// agent has ended.
func (ct *Container) Resize(ctx context.Context, cols, rows int) error {
	if cols < 1 || rows < 1 || cols > 65535 || rows > 65535 {
		return fault.Wrap("resize terminal", because(ErrSpec, "%d×%d is not the size of a terminal", cols, rows), "")
	}
	ct.mu.Lock()
	ct.cols, ct.rows = cols, rows
	ct.mu.Unlock()
	return fault.Wrap("resize terminal", ct.resize(ctx, cols, rows), "")
}

func (ct *Container) resize(ctx context.Context, cols, rows int) error {
	// The library's order is height, width.
	err := ct.client.bound(ctx).ResizeContainerTTY(ct.id, rows, cols)
	switch status(err) {
	case http.StatusNotFound, http.StatusConflict:
		return fmt.Errorf("%w: %w", ErrNotRunning, translate(err))
	}
	return translate(err)
}

// resizeRetrying sets the size right after the start. It retries, because some engines
// do not know the process yet, and gives up when the container has ended.
func (ct *Container) resizeRetrying(ctx context.Context, cols, rows int) error {
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for range 200 {
		err := ct.resize(ctx, cols, rows)
		if err == nil || !errors.Is(err, ErrNotRunning) {
			return err
		}
		state, serr := ct.client.state(ctx, ct.id)
		if serr != nil {
			return serr
		}
		if !state.Running {
			return ErrNotRunning
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("the terminal cannot be resized although the container runs")
}

// Exit is how a container ended.
type Exit struct {
	Code      int    // exit code of the command; 137 when it was killed
	OOMKilled bool   // the memory limit was hit, at the end or before
	Reason    string // for people; empty after exit code 0
}

// Wait returns when the container has ended. It waits on one open connection to the
// engine and does not poll. When the engine restarts, Wait connects again until ctx
// ends. A container that somebody else removed counts as ended.
func (ct *Container) Wait(ctx context.Context) (Exit, error) {
	pause := time.NewTicker(250 * time.Millisecond)
	defer pause.Stop()
	away := false // the engine was not reachable at some time during the wait
	for {
		code, err := ct.client.bound(ctx).WaitContainerWithContext(ct.id, ctx)
		if ctx.Err() != nil {
			return Exit{}, fault.Wrap("wait for container", context.Cause(ctx), "")
		}
		state, serr := ct.client.state(ctx, ct.id)
		switch {
		case errors.Is(serr, ErrNoContainer):
			return Exit{Code: killed, Reason: "the container was removed"}, nil
		case serr == nil && !state.Running && (err == nil || !state.FinishedAt.IsZero()):
			if err == nil {
				state.ExitCode = code
			}
			if !state.OOMKilled && state.ExitCode == killed {
				state.OOMKilled = ct.hitMemoryLimit(ctx, state.StartedAt)
			}
			e := exitOf(state)
			if away && !e.OOMKilled && e.Code > 128 {
				e.Reason += " when the container engine was stopped or restarted"
			}
			return e, nil
		}
		away = away || serr != nil
		select {
		case <-pause.C:
		case <-ctx.Done():
			return Exit{}, fault.Wrap("wait for container", context.Cause(ctx), "")
		}
	}
}

// killed is the exit code of a program that SIGKILL ended.
const killed = 128 + int(syscall.SIGKILL)

// exitOf translates the engine's state of an ended container into an Exit.
func exitOf(state engine.State) Exit {
	e := Exit{Code: state.ExitCode, OOMKilled: state.OOMKilled}
	switch {
	case state.OOMKilled && state.ExitCode == killed:
		e.Reason = "the memory limit was hit and the kernel ended it"
	case state.OOMKilled && state.ExitCode != 0: // the kernel killed another program earlier
		e.Reason = fmt.Sprintf("ended with code %d; the memory limit had been hit", state.ExitCode)
	case state.Error != "":
		e.Reason = oneLine(state.Error)
	case state.ExitCode > 128 && state.ExitCode < 160:
		e.Reason = fmt.Sprintf("ended by signal %d", state.ExitCode-128)
	case state.ExitCode != 0:
		e.Reason = fmt.Sprintf("ended with code %d", state.ExitCode)
	}
	return e
}

// hangUpLimit is how long a program may take to end after its terminal was hung
// up, before it is killed.
const hangUpLimit = 3 * time.Second

// Remove detaches, ends the container if it still runs, and deletes it. The program
// first gets SIGHUP, as from a terminal window that is closed, and has hangUpLimit to
// save its state. A container that no longer exists is not an error.
func (ct *Container) Remove(ctx context.Context) error {
	_ = ct.Close()
	ct.hangUp(ctx)
	err := ct.client.remove(ctx, ct.id)
	if errors.Is(err, context.DeadlineExceeded) {
		err = because(ErrEngineRefuses, "no answer in time")
	}
	return fault.Wrap("remove container", err, "run 'ironcurtain-mux gc' later")
}

// hangUp sends SIGHUP and waits for the program to end. It ignores errors, because the
// removal kills a program that still runs.
func (ct *Container) hangUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hangUpLimit)
	defer cancel()
	api := ct.client.bound(ctx)
	if api.KillContainer(engine.KillContainerOptions{ID: ct.id, Signal: engine.SIGHUP, Context: ctx}) == nil {
		_, _ = api.WaitContainerWithContext(ct.id, ctx)
	}
}

// Attach connects again to the terminal of a running container. Output that the agent
// wrote while nobody was attached is lost; a change of the size makes it redraw.
func (c *Client) Attach(ctx context.Context, id string) (*Container, error) {
	const op = "attach to container"
	found, err := c.bound(ctx).InspectContainerWithOptions(engine.InspectContainerOptions{ID: id, Context: ctx})
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	if found.Config.Labels[LabelManaged] != "true" {
		return nil, fault.Wrap(op, because(ErrNoContainer, "%s is not one of this program's", id), "")
	}
	if !found.State.Running {
		return nil, fault.Wrap(op, ErrNotRunning, "")
	}
	st, err := c.attach(ctx, found.ID, found.Config.Tty, found.Config.OpenStdin)
	if err != nil {
		return nil, fault.Wrap(op, translate(err), "")
	}
	return newContainer(c, found.ID, found.Config.Tty, st), nil
}

// state asks for the current state of a container.
func (c *Client) state(ctx context.Context, id string) (engine.State, error) {
	found, err := c.bound(ctx).InspectContainerWithOptions(engine.InspectContainerOptions{ID: id, Context: ctx})
	if err != nil {
		return engine.State{}, translate(err)
	}
	return found.State, nil
}

// remove deletes a container with its anonymous volumes. A container that does not
// exist is not an error.
func (c *Client) remove(ctx context.Context, id string) error {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for {
		err := translate(c.bound(ctx).RemoveContainer(engine.RemoveContainerOptions{
			ID: id, Force: true, RemoveVolumes: true, Context: ctx,
		}))
		if err == nil || errors.Is(err, ErrNoContainer) {
			return nil
		}
		// If somebody else is removing it, wait until that is done.
		if _, serr := c.state(ctx, id); errors.Is(serr, ErrNoContainer) {
			return nil
		}
		if ctx.Err() != nil || !removalUnderWay(err) {
			return err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}
