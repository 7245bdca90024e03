package docker

import (
	"context"
	"errors"
	"net/http"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const (
	// keepUser is the mode of users with which Podman keeps the caller's.
	keepUser = "keep-id"
	// noUserMode is a mode that no engine has. One that takes it does not read the mode.
	noUserMode = "keep-nothing"
	// rootUser is the user that is whoever runs a rootless engine, where that keeps no user.
	rootUser = "0:0"
)

// KeepsUser reports whether a user of this machine has the same number in the engine's
// containers. An engine that root runs does not change numbers. A rootless one does, unless it
// numbers the users in a container so that the caller's files are theirs there, too; otherwise
// number 0 is the caller. Which of both gets tried with an image, once: Docker takes any mode of
// users and does nothing, so an engine has to take the right one and to refuse a wrong one.
func (c *Client) KeepsUser(ctx context.Context, image string) (bool, error) {
	if !c.info.Rootless {
		return true, nil
	}
	c.users.Lock()
	defer c.users.Unlock()
	if c.users.asked {
		return c.users.kept, nil
	}
	kept, err := c.takesUserMode(ctx, image, keepUser)
	if kept && err == nil {
		var without bool
		without, err = c.takesUserMode(ctx, image, noUserMode)
		kept = !without
	}
	if err != nil {
		return false, fault.Wrap("ask which user agents run as", err, "")
	}
	c.users.asked, c.users.kept = true, kept
	return kept, nil
}

// takesUserMode reports whether the engine makes a container with that mode of users. The
// container is removed and never started.
func (c *Client) takesUserMode(ctx context.Context, image, mode string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
	defer cancel()
	created, err := c.bound(ctx).CreateContainer(engine.CreateContainerOptions{
		Config: &engine.Config{
			Image: image, Entrypoint: []string{}, Cmd: []string{"true"}, Labels: map[string]string{LabelManaged: "true"},
		},
		HostConfig: &engine.HostConfig{NetworkMode: "none", UsernsMode: mode},
		Context:    ctx,
	})
	if code := status(err); code == http.StatusBadRequest || code == http.StatusInternalServerError {
		return false, nil
	}
	if err != nil {
		return false, translate(err)
	}
	if err := c.remove(ctx, created.ID); err != nil && !errors.Is(err, ErrNoContainer) {
		return false, err
	}
	return true, nil
}
