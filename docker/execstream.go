package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const opStream = "start a program in the container"

// Stream runs a program in a running container, without a terminal, and returns its standard input
// and output as one connection. ctx bounds the start only. user is "uid:gid", as in Spec.
//
// If the engine reports only after the connection is open that it could not start the program, the
// first Read fails. If the program ends before it has written anything, Read fails with the
// beginning of its standard error; otherwise Read returns io.EOF. Close does not end the program,
// but its input. The connection also has CloseWrite() error, which fails with errors.ErrUnsupported
// if the two directions cannot be closed separately.
func (c *Client) Stream(ctx context.Context, id string, argv []string, user string) (net.Conn, error) {
	if err := validateUser(user, c.info.Rootless); err != nil {
		return nil, fault.Wrap(opStream, err, "")
	}
	created, err := c.bound(ctx).CreateExec(engine.CreateExecOptions{
		Container: id, Cmd: argv, User: user, AttachStdin: true, AttachStdout: true, AttachStderr: true, Context: ctx,
	})
	if err != nil {
		return nil, fault.Wrap(opStream, notStarted(err), "")
	}
	conn, in, err := c.upgraded(ctx, startExecRequest(created.ID))
	if err != nil {
		return nil, fault.Wrap(opStream, notStarted(err), "")
	}
	s := &execStream{Conn: conn, client: c, container: id, exec: created.ID}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.out = demux{in: bufio.NewReaderSize(&unbuffered{in, conn}, demuxBuffer), refused: s.refused}
	return s, nil
}

// notStarted translates an engine's refusal to run a program in a container.
func notStarted(err error) error {
	switch status(err) {
	case http.StatusNotFound:
		return ErrNoContainer
	case http.StatusConflict: // stopped or paused
		return fmt.Errorf("%w: %w", ErrNotRunning, translate(err))
	}
	return translate(err)
}

// startExecRequest starts a created exec and asks for its input and output.
func startExecRequest(exec string) *http.Request {
	body := []byte(`{"Detach":false,"Tty":false}`)
	return &http.Request{
		Method:        http.MethodPost,
		Host:          placeholder,
		URL:           &url.URL{Scheme: "http", Host: placeholder, Path: "/exec/" + exec + "/start"},
		Header:        http.Header{"Content-Type": {"application/json"}, "Connection": {"Upgrade"}, "Upgrade": {"tcp"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// execStream is the connection to a program in a container.
type execStream struct {
	net.Conn  // to the engine
	client    *Client
	container string
	exec      string          // the engine's identifier of the program
	life      context.Context // ends with Close
	end       context.CancelFunc

	reading sync.Mutex // held by Read
	out     demux
	failed  error // what Read returns from now on; nil before the end
}

// Read returns what the program wrote to its standard output.
func (s *execStream) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.out.Read(p)
	switch {
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
		return n, err
	case s.life.Err() != nil:
		err = net.ErrClosed
	case !errors.Is(err, io.EOF):
		err = fault.Wrap("read from the container", err, limitHint(err))
		_ = s.Conn.Close() // no frame that follows can be read
	}
	s.failed = err
	return n, err
}

// CloseWrite ends the program's input.
func (s *execStream) CloseWrite() error {
	half, ok := s.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// Close closes both directions. Reads and writes under way return.
func (s *execStream) Close() error {
	s.end()
	return s.Conn.Close()
}

// refused asks the engine whether the program was started. If not, the text that came as the
// program's output is the engine's own, and refused returns it as an error.
func (s *execStream) refused(text []byte) error {
	ctx, cancel := context.WithTimeout(s.life, pingLimit)
	defer cancel()
	ran, err := s.client.execRan(ctx, s.exec)
	if err != nil || ran {
		return err
	}
	kind := ErrNotStarted
	if _, err := s.client.running(ctx, s.container); errors.Is(err, ErrNotRunning) || errors.Is(err, ErrNoContainer) {
		kind = err
	}
	return because(kind, "%s", plain(string(text), complaintLimit))
}

// limitHint returns a hint if an error looks like that of a program that cannot start because the
// container is at its limit of processes.
func limitHint(err error) string {
	for _, sign := range []string{"read init-p", "newosproc", "failed to create new OS thread", "temporarily unavailable"} {
		if strings.Contains(err.Error(), sign) {
			return "end some of the agent's programs, or raise 'pids' in config.json"
		}
	}
	return ""
}

// execRan reports whether the engine has started a program.
func (c *Client) execRan(ctx context.Context, exec string) (bool, error) {
	resp, err := c.base.RoundTrip(c.getRequest(ctx, "/exec/"+exec+"/json", nil))
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, because(ErrEngineRefuses, "state of a program: %s", resp.Status)
	}
	var state struct {
		Running       bool
		Pid, ExitCode int // Podman sets Pid to 0 when the program ends
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, headLimit)).Decode(&state); err != nil {
		return false, err
	}
	return state.Running || state.Pid != 0 || state.ExitCode == 0, nil
}
