package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// carried is how a task has ended for its client.
type carried struct {
	end wire.End
	err error
}

// carry gives the daemon a task with pipes as standard streams. The test has the other ends.
func (s *served) carry(ctx context.Context, task wire.Task) (in *os.File, out *bufio.Reader, ended chan carried) {
	s.t.Helper()
	inRead, in := pipe(s.t)
	outRead, outWrite := pipe(s.t)
	ended = make(chan carried, 1)
	go func() {
		end, err := client.Carry(ctx, client.Options{Socket: SocketPath(s.home), Version: "test"}, task, inRead, outWrite, outWrite)
		ended <- carried{end, err}
	}()
	return in, bufio.NewReader(outRead), ended
}

// pipe makes a pipe that the end of the test closes.
func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close(); _ = write.Close() })
	return read, write
}

// A task has its client's streams, and ends it with a code. Somebody attends it meanwhile.
func TestATaskHasItsClientsStreams(t *testing.T) {
	s := start(t, until)
	s.carries = func(_ context.Context, task Task) wire.End {
		line, err := bufio.NewReader(task.Streams.In).ReadString('\n')
		if err == nil {
			_, err = io.WriteString(task.Streams.Out, task.Asked.Text+" "+line)
		}
		if err != nil || task.Typed || task.Streams.In.IsTerminal() {
			t.Errorf("%v, %+v", err, task)
		}
		return wire.End{Op: "start", Reason: "over", Failed: true, Code: 5}
	}
	in, out, ended := s.carry(t.Context(), wire.Task{Text: "count"})
	if !<-s.attended {
		t.Error("nobody attends it")
	}
	if _, err := in.WriteString("to ten\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); err != nil || line != "count to ten\n" {
		t.Errorf("%q, %v", line, err)
	}
	want := wire.End{Op: "start", Reason: "over", Failed: true, Code: 5}
	if got := <-ended; got.err != nil || got.end != want {
		t.Errorf("%+v", got)
	}
	if <-s.attended {
		t.Error("somebody attends it after its end")
	}
}

// A task goes on without its client, with nobody there; its streams hold nobody up.
func TestATaskOutlivesItsClient(t *testing.T) {
	s := start(t, until)
	over := make(chan error, 1)
	s.carries = func(ctx context.Context, task Task) wire.End {
		<-task.Lost
		task.Streams.End()
		_, err := task.Streams.Out.Write(make([]byte, 1<<20))
		over <- errors.Join(err, ctx.Err())
		return wire.End{}
	}
	conn := s.dial()
	if err := conn.Send(wire.KindHello, wire.Hello{Protocol: wire.Protocol, Kind: wire.ForView, Rights: wire.Operate}); err != nil {
		t.Fatal(err)
	}
	read, write := pipe(t)
	if err := conn.Send(wire.KindTask, wire.Task{}, read, write, write); err != nil {
		t.Fatal(err)
	}
	if !<-s.attended {
		t.Error("nobody attends it")
	}
	_ = conn.Close()
	if <-s.attended {
		t.Error("a lost client attends it")
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// The person ends a task by ending the client with Ctrl-C; one that has detached leaves it be.
// A panic is the end of its task only.
func TestTheEndsOfATask(t *testing.T) {
	s := start(t, until)
	goOn := make(chan struct{})
	s.carries = func(ctx context.Context, task Task) wire.End {
		switch task.Asked.Text {
		case "panic":
			panic("wrong")
		case "detach":
			task.Leave()
			<-task.Lost
			<-goOn
			return wire.End{}
		}
		<-ctx.Done()
		return wire.End{Reason: "interrupted", Failed: true}
	}
	if _, _, ended := s.carry(t.Context(), wire.Task{Text: "panic"}); !strings.Contains((<-ended).end.Reason, "has failed") {
		t.Error("a panic is not told")
	}
	_, _, ended := s.carry(t.Context(), wire.Task{Text: "detach"})
	if got := <-ended; got.err != nil || got.end.Failed {
		t.Errorf("%+v", got)
	}
	close(goOn)
	ctx, interrupt := context.WithCancel(t.Context())
	_, _, ended = s.carry(ctx, wire.Task{})
	interrupt()
	if got := <-ended; got.err != nil || got.end.Reason != "interrupted" {
		t.Errorf("%+v", got)
	}
}
