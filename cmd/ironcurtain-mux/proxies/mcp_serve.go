package proxies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// callsDrain is how long servers may continue calls after SIGTERM. It is short, because the
// program that ends the proxy waits for it.
const callsDrain = 500 * time.Millisecond

// serve announces the proxy, serves it and drains it.
func (f *mcpFlags) serve(ctx context.Context, p *mcpproxy.Proxy, stdin io.Reader, stdout, stderr io.Writer) error {
	served := make(chan error, 1) // must-deliver, one result
	announce := stdout
	ready := map[string]any{"ready": true, "socket": f.socket, "tools": p.Tools()}
	switch {
	case f.stdio:
		announce = stderr
		go func() { served <- p.ServeConn(newStdio(stdin, stdout)) }()
	case f.tcp != "":
		l, token, err := f.listenTCP(ctx)
		if err != nil {
			return errors.Join(err, p.Close(ctx))
		}
		ready["address"] = l.Addr().String()
		go func() { served <- p.ServeToken(l, token) }()
	default:
		l, err := listenUnix(f.socket)
		if err != nil {
			return errors.Join(err, p.Close(ctx))
		}
		defer func() { _ = os.Remove(f.socket) }()
		go func() { served <- p.Serve(l) }()
	}
	err := cli.PrintJSON(announce, ready)
	ended := false
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-served:
			ended = true
		}
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), callsDrain)
	defer cancel()
	err = errors.Join(err, p.Close(drain))
	if !ended {
		err = errors.Join(err, <-served)
	}
	return err
}

// reloadOnSignal reads the policy again on SIGUSR1. It reports a policy that cannot be
// loaded and keeps the present one. It returns a function that stops it.
func (f *mcpFlags) reloadOnSignal(load func() (*policy.Engine, error), p *mcpproxy.Proxy, stderr io.Writer) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{}) // may drop signals: one pending reload is enough
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer close(done)
		for range signals {
			engine, err := load()
			if err != nil {
				cli.Report(stderr, fmt.Errorf("%w; the old policy stays in force", err), false)
				continue
			}
			p.Reload(engine)
			fmt.Fprintf(stderr, "ironcurtain-mux: the policy was reloaded: %.12s\n", engine.Hash())
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// stdio is standard input and output as one connection. Closing it ends a blocked read,
// which closing standard input would not.
type stdio struct {
	*io.PipeReader
	io.Writer
}

func newStdio(in io.Reader, out io.Writer) stdio {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err) // nil means the end of the input
	}()
	return stdio{r, out}
}
