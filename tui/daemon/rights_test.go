package daemon

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// A limited view is told nothing that leads to a program or a tab, cannot run a program at its
// client, ends nothing but itself, and only one that may decide counts as somebody who is there.
func TestALimitedViewHasNoMore(t *testing.T) {
	for _, right := range []wire.Right{wire.See, wire.Answer} {
		t.Run(string(right), func(t *testing.T) {
			quit, ran := make(chan struct{}), make(chan error, 1)
			s := start(t, func(ctx context.Context, c Client) (string, error) {
				ran <- c.Passed.Run(ctx, []string{"sh"})
				<-quit
				return "", ErrQuit
			})
			o := s.options(terminal(t))
			o.Rights, o.Name = right, "phone"
			o.View = wire.View{Open: &wire.Open{Agent: "shell"}, Keys: map[string]string{"p": "key"}, Environment: []string{"A=B"}, Show: "tab"}
			ended := make(chan result, 1)
			go func() {
				end, err := client.Attach(t.Context(), o)
				ended <- result{end, err}
			}()
			c := <-s.shown
			if c.Rights != right || c.Identity.Name != "phone" || c.Asked.Open != nil || c.Asked.Keys != nil || c.Asked.Environment != nil || c.Asked.Show != "tab" {
				t.Errorf("the view is told %+v", c)
			}
			if err := <-ran; err == nil || !strings.Contains(err.Error(), "may not run programs") {
				t.Errorf("it runs a program: %v", err)
			}
			_, errList := client.Clients(t.Context(), o)
			_, errStop := client.Stop(t.Context(), o, true)
			_, errKick := client.Kick(t.Context(), o, c.Identity.ID)
			if (errList == nil) != (right == wire.See) || errStop == nil || errKick == nil {
				t.Errorf("it lists with %v, stops with %v, detaches with %v", errList, errStop, errKick)
			}
			list, err := client.Clients(t.Context(), s.options(nil))
			if err != nil || len(list) != 1 || list[0].Rights != right {
				t.Errorf("listed as %+v, %v", list, err)
			}
			close(quit)
			if r := <-ended; r.err != nil || r.end != "" {
				t.Errorf("its quitting ends it with %s", r)
			}
			if _, err := client.Clients(t.Context(), s.options(nil)); err != nil {
				t.Errorf("it has ended the daemon: %v", err)
			}
			if there := len(s.attended) > 0; there != (right == wire.Answer) {
				t.Errorf("somebody who may decide is there: %t", there)
			}
		})
	}
}

// The client of a limited view runs no program, whatever the other side says.
func TestALimitedClientLendsNothing(t *testing.T) {
	home := t.TempDir()
	l, err := wire.ListenPrivate(home + "/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lent := make(chan wire.Lent, 1)
	go func() {
		defer close(lent)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		c := wire.NewConn(conn.(*net.UnixConn))
		for _, answer := range []struct {
			kind string
			body any
		}{{wire.KindWelcome, wire.Welcome{}}, {wire.KindLend, wire.Lend{Argv: []string{"touch", home + "/made"}}}, {wire.KindEnd, wire.End{}}} {
			f, err := c.Receive()
			f.Close()
			var l wire.Lent
			if err == nil && f.Kind == wire.KindLent && f.Into(&l) == nil {
				lent <- l
			}
			if err != nil || c.Send(answer.kind, answer.body) != nil {
				return
			}
		}
	}()
	tty := terminal(t)
	if _, err := client.Attach(t.Context(), client.Options{Socket: home + "/s", In: tty, Out: tty, Rights: wire.Answer}); err != nil {
		t.Error(err)
	}
	if l := <-lent; !strings.Contains(l.Error, "runs no programs") {
		t.Errorf("%+v", l)
	}
}

// What was typed at a client counts no more once somebody has detached it.
func TestAKickDropsWhatWasTyped(t *testing.T) {
	s := start(t, until)
	_, wait := s.attach(terminal(t))
	c := <-s.shown
	if _, err := client.Kick(t.Context(), s.options(nil), c.Identity.ID); err != nil {
		t.Fatal(err)
	}
	wait()
	if first, second := <-s.kicked, <-s.kicked; first != c.Identity || second != c.Identity {
		t.Errorf("%v and %v were forgotten, and %v was detached", first, second, c.Identity)
	}
}
