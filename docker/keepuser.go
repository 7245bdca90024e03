package docker

import (
	"context"
	"errors"
	"net/http"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const (
	// keepUser is the user namespace mode in which Podman keeps the caller's user ID.
	keepUser = "keep-id"
	// noUserMode is a mode that does not exist. An engine that accepts it ignores the mode.
	noUserMode = "keep-nothing"
	// rootUser is, in a container of a rootless engine that does not keep user IDs, the user who runs
	// the engine.
	rootUser = "0:0"
)

// KeepsUser reports whether a user of this machine has the same ID in the engine's containers. An
// engine that runs as root does not change IDs. A rootless one does: there the caller has ID 0,
// except that Podman can keep the caller's ID. KeepsUser finds out once, by creating containers
// from the image. Docker accepts any user namespace mode and ignores it, so an engine that keeps
// IDs is one that accepts keepUser and refuses noUserMode.
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

// takesUserMode reports whether the engine creates a container with that user namespace mode. The
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
