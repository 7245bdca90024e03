package docker

import (
	"context"
	"io"
	"sync"

	engine "github.com/fsouza/go-dockerclient"
)

// detachKeys is the sequence that would end an attachment. The engine cannot
// be told to have none, and it holds back the first key of the sequence until
// the next one comes; so it gets bytes that never occur in UTF-8 input, in an
// order nobody sends.
const detachKeys = "\xff,\xfe,\xff,\xfd,\xff,\xfc,\xfe,\xff"

// stream is the terminal of a running container. Nothing of it is buffered:
// an agent that writes faster than the reader reads is held back.
type stream struct {
	conn  io.Closer
	in    *io.PipeWriter
	out   *io.PipeReader
	ended chan struct{} // closed when every goroutine of the attachment is done
	once  sync.Once
}

// attach connects to a container's terminal or, without one, to its combined
// output. The container may not have been started yet.
func (c *Client) attach(ctx context.Context, id string, tty, input bool) (*stream, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	abandon := func() { inW.Close(); outR.Close() }
	opts := engine.AttachToContainerOptions{
		Container:    id,
		OutputStream: outW,
		RawTerminal:  tty,
		Stream:       true,
		Stdin:        input,
		Stdout:       true,
		Stderr:       true,
		DetachKeys:   detachKeys,
		InputStream:  inR,
	}
	if !tty {
		opts.ErrorStream = outW
	}
	h, err := c.hijack(ctx, abandon, func(api *engine.Client, success chan struct{}) (engine.CloseWaiter, error) {
		opts.Success = success
		return api.AttachToContainerNonBlocking(opts)
	})
	if err != nil {
		return nil, err
	}
	s := &stream{conn: h.conn, in: inW, out: outR, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_ = h.cw.Wait() // exactly once; the reason is asked of the engine, see Container.Wait
		outW.Close()
		inW.Close()
	}()
	return s, nil
}

// Read returns what the agent wrote; io.EOF when the stream has ended.
func (s *stream) Read(p []byte) (int, error) { return s.out.Read(p) }

// Write passes bytes to the agent as they are.
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close detaches and waits until nothing of the attachment runs any more.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.conn.Close()
		s.in.Close()
		s.out.Close()
	})
	<-s.ended
	return nil
}
