package docker

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Handle is a container without an attachment. Its methods may be called at any time,
// from any goroutine.
type Handle struct {
	client *Client
	id     string
}

// Running returns a running container of this program, to take it back. It fails with
// ErrNoContainer when there is none with this id, and with ErrNotRunning when it has
// ended.
func (c *Client) Running(ctx context.Context, id string) (*Handle, error) {
	found, err := c.running(ctx, id)
	if err != nil {
		return nil, fault.Wrap("find container", err, "")
	}
	return &Handle{client: c, id: found.ID}, nil
}

// running asks for a container and refuses one that this program did not create or that
// does not run.
func (c *Client) running(ctx context.Context, id string) (*engine.Container, error) {
	found, err := c.bound(ctx).InspectContainerWithOptions(engine.InspectContainerOptions{ID: id, Context: ctx})
	switch {
	case err != nil:
		return nil, translate(err)
	case found.Config.Labels[LabelManaged] != "true":
		return nil, because(ErrNoContainer, "%s is not one of this program's", id)
	case !found.State.Running:
		return nil, ErrNotRunning
	}
	return found, nil
}

// ID returns the engine's identifier of the container.
func (h *Handle) ID() string { return h.id }

// Exit is how a container ended.
type Exit struct {
	Code      int    // exit code of the command; 137 when it was killed
	OOMKilled bool   // the memory limit was hit, at the end or earlier
	Reason    string // for people; empty after exit code 0
}

// Wait returns when the container has ended. It waits on one open connection to the
// engine and does not poll. When the engine restarts, Wait connects again until ctx
// ends. A container that somebody else removed counts as ended.
func (h *Handle) Wait(ctx context.Context) (Exit, error) {
	pause := time.NewTicker(h.client.retryPause())
	defer pause.Stop()
	away := false // the engine was not reachable at some time during the wait
	for {
		code, err := h.client.bound(ctx).WaitContainerWithContext(h.id, ctx)
		if ctx.Err() != nil {
			return Exit{}, fault.Wrap("wait for container", context.Cause(ctx), "")
		}
		state, serr := h.client.state(ctx, h.id)
		switch {
		case errors.Is(serr, ErrNoContainer):
			return Exit{Code: killed, Reason: "the container was removed"}, nil
		case serr == nil && !state.Running && (err == nil || !state.FinishedAt.IsZero()):
			if err == nil {
				state.ExitCode = code
			}
			if !state.OOMKilled && state.ExitCode == killed {
				state.OOMKilled = h.hitMemoryLimit(ctx, state.StartedAt)
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

// Remove ends the container if it still runs, and deletes it. The program first gets SIGHUP, as when
// a terminal window closes, and has hangUpLimit to save its state. It is not an error if the
// container no longer exists.
func (h *Handle) Remove(ctx context.Context) error {
	h.hangUp(ctx)
	err := h.client.remove(ctx, h.id)
	if errors.Is(err, context.DeadlineExceeded) {
		err = because(ErrEngineRefuses, "no answer in time")
	}
	return fault.Wrap("remove container", err, "run 'ironcurtain-mux gc' later")
}

// HangUp sends the program SIGHUP and does not wait for its end.
func (h *Handle) HangUp(ctx context.Context) error {
	err := h.client.bound(ctx).KillContainer(engine.KillContainerOptions{ID: h.id, Signal: engine.SIGHUP, Context: ctx})
	return fault.Wrap("hang up on the container", translate(err), "")
}

// hangUp sends SIGHUP and waits for the program to end. It ignores errors, because the
// removal kills a program that still runs.
func (h *Handle) hangUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hangUpLimit)
	defer cancel()
	if h.HangUp(ctx) == nil {
		_, _ = h.client.bound(ctx).WaitContainerWithContext(h.id, ctx)
	}
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
