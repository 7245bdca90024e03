package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/ssh"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Errors of the engine or of a request to it; test with errors.Is.
var (
	ErrNoEngine         = errors.New("no Docker engine is installed")
	ErrEngineNotRunning = errors.New("the Docker engine is not running")
	ErrPermission       = errors.New("no permission to talk to the Docker engine")
	ErrEngineRefuses    = errors.New("the Docker engine refuses to answer")
	ErrSSH              = errors.New("ssh does not reach the Docker engine")
	ErrEndpoint         = errors.New("the Docker endpoint is not usable")
	ErrNoImage          = errors.New("the image does not exist")
	ErrNoContainer      = errors.New("the container does not exist")
	ErrNotRunning       = errors.New("the container is not running")
	ErrNotStarted       = errors.New("the engine could not start the program in the container")
	ErrSourceMissing    = errors.New("the engine does not find a path that is to be mounted")
	ErrMount            = errors.New("the mount is not usable")
	ErrSpec             = errors.New("the container specification is not usable")
	ErrUnknownImage     = errors.New("there is no such image in this program")
	ErrRecipe           = errors.New("the recipe of the images is not usable")
)

// because adds detail to one of the errors above.
func because(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
}

// translate turns the library's errors into this package's.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var api *engine.Error
	var gone *engine.NoSuchContainer
	var idle *engine.ContainerNotRunning
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrNoContainer):
		return err
	case errors.Is(err, engine.ErrNoSuchImage):
		return ErrNoImage
	case errors.Is(err, engine.ErrConnectionRefused):
		return &fault.Error{Op: "reach the engine", Err: ErrEngineNotRunning, Next: startHint}
	case errors.As(err, &gone):
		return ErrNoContainer
	case errors.As(err, &idle):
		return ErrNotRunning
	case errors.As(err, &api) && api.Status == http.StatusNotFound && strings.Contains(strings.ToLower(api.Message), "no such image"):
		return ErrNoImage
	case errors.As(err, &api) && sourceMissing(api.Message):
		return because(ErrSourceMissing, "%s", engineMessage(api.Message))
	case errors.As(err, &api):
		return fmt.Errorf("the engine answered %d: %s", api.Status, engineMessage(api.Message))
	}
	return err
}

// sshFailure turns a failure of ssh into this package's error.
func sshFailure(e *ssh.Error) error {
	kind := ErrSSH
	switch {
	case errors.Is(e, ssh.ErrPermission):
		kind = ErrPermission
	case errors.Is(e, ssh.ErrNotRunning):
		kind = ErrEngineNotRunning
	}
	return fault.Wrap(e.Op, because(kind, "%s", e.Cause), e.Next)
}

// sourceMissing reports whether a message of Docker or Podman means that a directory to be mounted
// does not exist on the engine's machine.
func sourceMissing(message string) bool {
	return strings.Contains(message, "bind source path does not exist") ||
		strings.Contains(message, "statfs ") && strings.Contains(message, "no such file or directory")
}

// status returns the engine's HTTP status in err, or 0.
func status(err error) int {
	var api *engine.Error
	var gone *engine.NoSuchContainer
	switch {
	case errors.As(err, &api):
		return api.Status
	case errors.As(err, &gone), errors.Is(err, ErrNoContainer):
		return 404
	}
	return 0
}

// oneLine folds text from the engine into a single line of bounded length.
func oneLine(s string) string { return text.OneLine(strings.ToValidUTF8(s, "?"), 600) }
