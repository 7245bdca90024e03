package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// execOutputLimit bounds what Exec keeps of each output, in bytes.
const execOutputLimit = 16 << 20

// Exec runs a command in a running container, without a terminal and without input,
// and returns its output and exit code. An empty user means the container's own user.
// When ctx ends, the command continues to run, because the engine cannot stop it.
func (c *Client) Exec(ctx context.Context, id string, argv []string, user string) (stdout, stderr string, code int, err error) {
	const op = "run command in container"
	created, err := c.bound(ctx).CreateExec(engine.CreateExecOptions{
		Container: id, Cmd: argv, User: user, AttachStdout: true, AttachStderr: true, Context: ctx,
	})
	if err != nil {
		return "", "", 0, fault.Wrap(op, translate(err), "")
	}
	over := fmt.Errorf("more than %d bytes of output: %w", execOutputLimit, io.ErrShortWrite)
	out, errs := &bounded.Buffer{Most: execOutputLimit, Err: over}, &bounded.Buffer{Most: execOutputLimit, Err: over}
	conn, in, err := c.upgraded(ctx, startExecRequest(created.ID))
	if err != nil {
		return "", "", 0, fault.Wrap(op, translate(err), "")
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err = separate(out, errs, bufio.NewReader(&unbuffered{in, conn}))
	stop()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return out.String(), errs.String(), 0, fault.Wrap(op, err, "")
	}
	// Only the engine knows whether the command ran.
	done, err := c.bound(ctx).InspectExec(created.ID)
	if err != nil {
		return out.String(), errs.String(), 0, fault.Wrap(op, translate(err), "")
	}
	if done.Running {
		return out.String(), errs.String(), 0, fault.Wrap(op, fmt.Errorf("the command's output ended but it still runs"), "")
	}
	return out.String(), errs.String(), done.ExitCode, nil
}

// separate copies standard output, and everything else, from the engine's frames until they end.
func separate(out, other io.Writer, in io.Reader) error {
	var head [frameHead]byte
	for {
		if _, err := io.ReadFull(in, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		to := other
		if head[0] == frameOut {
			to = out
		}
		if _, err := io.CopyN(to, in, int64(binary.BigEndian.Uint32(head[4:]))); err != nil {
			return cut(err)
		}
	}
}
