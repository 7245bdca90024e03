package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// How long creating and removing may take. The limits do not depend on the caller's
// context, because a caller that gives up must not leave an unfinished container.
const (
	createLimit = 60 * time.Second
	removeLimit = 30 * time.Second
)

// Start creates a container, attaches to its terminal, starts it and sets the size of
// the terminal, in this order, so that no output is missed. When anything fails or ctx
// ends, Start removes the container again.
func (c *Client) Start(ctx context.Context, s Spec) (ct *Container, err error) {
	if s.Detached {
		return nil, fault.Wrap(opStart, because(ErrSpec, "a detached container cannot be attached to"), "")
	}
	err = c.begin(ctx, s, func(id string) (err error) {
		ct, err = c.launch(ctx, id, s)
		return err
	})
	return ct, err
}

// StartDetached creates a detached container, whatever s.Detached is, and starts it. When anything
// fails or ctx ends, StartDetached removes the container again.
func (c *Client) StartDetached(ctx context.Context, s Spec) (h *Handle, err error) {
	s.Detached = true
	err = c.begin(ctx, s, func(id string) error {
		h = &Handle{client: c, id: id}
		return translate(c.bound(ctx).StartContainerWithContext(id, nil, ctx))
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

const opStart = "start container"

// begin checks a specification, creates a container and calls start to start it. If the engine cannot
// raise limits, begin tries again with limits that need no raising.
func (c *Client) begin(ctx context.Context, s Spec, start func(id string) error) error {
	if err := s.validate(c.info.Rootless); err != nil {
		return fault.Wrap(opStart, err, "")
	}
	if s.Runtime != "" && !slices.Contains(c.info.Runtimes, s.Runtime) {
		err := because(ErrSpec, "the engine has no runtime %q; it has %s", s.Runtime, strings.Join(c.info.Runtimes, ", "))
		return fault.Wrap(opStart, err, "install it and name it to the engine, or change 'runtime' in config.json")
	}
	if err := c.haveVolumes(ctx, s.Volumes); err != nil {
		return fault.Wrap(opStart, err, "")
	}
	confined := c.confined.Load()
	err := c.beginOnce(ctx, s, start)
	if limitRefused(err) && !confined {
		c.confined.Store(true)
		err = c.beginOnce(ctx, s, start)
	}
	return fault.Wrap(opStart, err, startFailureHint(err))
}

// beginOnce creates a container and calls start to start it. After a failure it removes the container.
func (c *Client) beginOnce(ctx context.Context, s Spec, start func(id string) error) error {
	id, err := c.create(ctx, s)
	if err != nil {
		return err
	}
	if err := start(id); err != nil {
		c.discard(ctx, id)
		return err
	}
	return nil
}

// startFailureHint returns the remedy for failures that have one.
func startFailureHint(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrNoImage):
		return "build it with 'ironcurtain-mux images build'"
	case strings.Contains(err.Error(), "docker-init"):
		return "install the engine's init program, for example the package tini, as docker-init"
	case strings.Contains(err.Error(), "container-init"):
		return "install Podman's init program, for example the package catatonit"
	case strings.Contains(err.Error(), "no space left"):
		return "free space, for example with 'ironcurtain-mux images rm --old'"
	}
	return ""
}

// create asks the engine for a container. The end of ctx does not cancel the request,
// because the engine would still finish it and nobody would know the container's
// identifier. Instead create removes the container in the background.
func (c *Client) create(ctx context.Context, s Spec) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	type result struct {
		id  string
		err error
	}
	done := make(chan result, 1)
	c.cleanups.Go(func() {
		lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
		defer cancel()
		created, err := c.createConfined(lasting, s)
		if err != nil {
			done <- result{err: translate(err)}
			return
		}
		if ctx.Err() != nil {
			_ = c.remove(lasting, created.ID)
			done <- result{err: context.Cause(ctx)}
			return
		}
		done <- result{id: created.ID}
	})
	// Creating takes milliseconds. After the end of ctx the caller waits a little longer
	// for the removal, but not for an engine that hangs.
	select {
	case r := <-done:
		return r.id, r.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(2 * time.Second)
	defer grace.Stop()
	select {
	case r := <-done:
		if r.id != "" {
			c.discard(ctx, r.id)
		}
	case <-grace.C:
		c.discardLater(ctx, func() string { return (<-done).id })
	}
	return "", context.Cause(ctx)
}

// createConfined creates a container, with lower limits if the engine is itself confined. If the
// container has mounts of the caller's files, a rootless engine keeps the caller's user, if it can
// (see KeepsUser). Without mounts, that would only add the caller's group to the container's user.
func (c *Client) createConfined(ctx context.Context, s Spec) (*engine.Container, error) {
	host := s.hostConfig(c.info)
	if c.confined.Load() {
		host.Ulimits = append(host.Ulimits, ownLimits()...)
	}
	if c.info.Rootless && len(s.Mounts) > 0 && s.User != rootUser {
		kept, err := c.KeepsUser(ctx, s.Image)
		if err != nil {
			return nil, err
		}
		if kept {
			host.UsernsMode = keepUser
		}
	}
	return c.bound(ctx).CreateContainer(engine.CreateContainerOptions{Name: s.Name, Config: s.config(), HostConfig: host, Context: ctx})
}

// launch attaches to a created container and starts it.
func (c *Client) launch(ctx context.Context, id string, s Spec) (*Container, error) {
	st, err := c.attach(ctx, id)
	if err != nil {
		return nil, translate(err)
	}
	ct := newContainer(c, id, st)
	if err := c.bound(ctx).StartContainerWithContext(id, nil, ctx); err != nil {
		st.Close()
		return nil, translate(err)
	}
	cols, rows := s.size()
	if err := ct.resizeRetrying(ctx, cols, rows); err != nil && !errors.Is(err, ErrNotRunning) {
		st.Close()
		return nil, err
	}
	return ct, nil
}

// discard removes a container even if ctx has ended. When the engine hangs, the removal
// continues in the background and Close waits for it.
func (c *Client) discard(ctx context.Context, id string) {
	finished := c.discardLater(ctx, func() string { return id })
	grace := time.NewTimer(5 * time.Second)
	defer grace.Stop()
	select {
	case <-finished:
	case <-grace.C:
	}
}

// discardLater removes in the background the container that id returns. An empty
// identifier means that there is none.
func (c *Client) discardLater(ctx context.Context, id func() string) <-chan struct{} {
	finished := make(chan struct{})
	c.cleanups.Go(func() {
		defer close(finished)
		if id := id(); id != "" {
			lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
			defer cancel()
			_ = c.remove(lasting, id) // if it fails, Reap finds the container by its label
		}
	})
	return finished
}
