package docker

import (
	"context"
	"errors"
	"io"
	"net/http"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Replay writes to w what the container's program wrote so far, as far as the
// engine's log reaches back: at least the last 8 MiB. The bytes are those of
// the terminal. The engine logs by lines: an unfinished one of up to 16 KiB at
// the end is missing while the program runs. To take a session back, replay first and
// then Attach; a change of the terminal's size repairs what was missed in between.
func (c *Client) Replay(ctx context.Context, id string, w io.Writer) error {
	const op = "replay the terminal"
	found, err := c.bound(ctx).InspectContainerWithOptions(engine.InspectContainerOptions{ID: id, Context: ctx})
	if err != nil {
		return fault.Wrap(op, translate(err), "")
	}
	out := &errorRecorder{w: w}
	err = c.bound(ctx).Logs(engine.LogsOptions{
		Context: ctx, Container: found.ID, OutputStream: out, ErrorStream: out,
		Stdout: true, Stderr: true, Tail: "all", RawTerminal: found.Config.Tty,
	})
	if out.err != nil {
		err = out.err
	}
	if status(err) == http.StatusNotFound {
		err = errors.Join(ErrNoContainer, err)
	}
	return fault.Wrap(op, translate(err), "")
}

// errorRecorder remembers the writer's error, which the library does not always
// pass on.
type errorRecorder struct {
	w   io.Writer
	err error
}

func (k *errorRecorder) Write(p []byte) (int, error) {
	n, err := k.w.Write(p)
	if err != nil && k.err == nil {
		k.err = err
	}
	return n, err
}
