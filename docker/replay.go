package docker

import (
	"context"
	"errors"
	"io"
	"net/http"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Replay writes to w the terminal output of the container's program, as far back as the engine's log
// goes: at least the last 8 MiB, but with Podman up to 16 MiB and perhaps much less, because it
// starts an empty log when one is full. The engine logs whole lines: while the program runs, an
// unfinished last line of up to 16 KiB is missing. To resume a session, call Replay and then Attach;
// a change of the terminal's size makes the program redraw what was missed in between.
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
