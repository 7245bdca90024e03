package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// A limited client tries everything that is more than its right, and whatever else it can say to
// get more. Nothing of it reaches the broker.
func TestALimitedClientGetsNoMore(t *testing.T) {
	attempts := 0
	for _, right := range []wire.Right{wire.See, wire.Answer, "", "OPERATE"} {
		api := &stub{decided: make(chan broker.Decision, 64), revoked: make(chan broker.Revocation, 64)} // it panics for anything else
		c := serve(t, Served{Broker: api, Right: right, Client: broker.Client{ID: "limited"}})
		try := func(text string) {
			t.Helper()
			attempts++
			say(t, c, text)
			if a := hear(t, c); a.Error == nil || a.Result != nil {
				t.Errorf("%q: %s is answered with %s", right, text, a.Result)
			}
		}
		id := 0
		for method, row := range table {
			if row.rights[0] == right || len(row.rights) == 3 && (right == wire.See || right == wire.Answer) {
				continue
			}
			id++
			params := strings.TrimSuffix(strings.Repeat(`"x",`, row.params), ",")
			try(fmt.Sprintf(`{"id":%d,"method":%q,"params":[%s]}`, id, method, params))
		}
		for _, text := range []string{
			`"method":"Decide","params":[{"id":"e","approve":true,"remember":{"scope":"file"}}]`,
			`"method":"Decide","params":[{"id":"e","approve":true,"rights":"operate"}]`,
			`"method":"decide","params":[{"id":"e","approve":true}]`,
			`"method":"Submit","params":[{"session":"s","text":"push"}]`,
			`"method":"Attach","params":["s"]`,
			`"method":"hello","params":[{"rights":"operate"}]`,
		} {
			id++
			try(fmt.Sprintf(`{"id":%d,%s}`, id, text))
		}
		if len(api.decided)+len(api.revoked) > 0 {
			t.Errorf("%q has decided something", right)
		}
	}
	if attempts < 40 {
		t.Errorf("there were only %d attempts", attempts)
	}
}

// A frame that no client sends ends the connection, and so does one that raises rights.
func TestWhatIsNoCallEndsTheConnection(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `x`, `[]`, `{"id":1,"method":"Pending","right":"operate"}`, `{"kind":"hello","body":{"rights":"operate"}}`,
		`{"id":-1,"method":"Pending"}`, `{"id":1,"cancel":1}`, `{"id":1,"method":"Pending"} {}`,
	} {
		c := serve(t, Served{Broker: &stub{}, Right: wire.Answer})
		say(t, c, text)
		if got, err := c.ReceiveText(); err == nil {
			t.Errorf("%s is answered with %s", text, got)
		}
	}
}

// Whoever says another's name decides under the name that the daemon gave.
func TestADecisionNamesItsClient(t *testing.T) {
	api := &stub{decided: make(chan broker.Decision, 1), revoked: make(chan broker.Revocation, 1)}
	me := broker.Client{ID: "1", Name: "box", Terminal: "/dev/pts/3"}
	c := asked(t, Served{Broker: api, Right: wire.Operate, Client: me})
	if _, err := c.Decide(t.Context(), broker.Decision{ID: "e", By: "tui", Client: broker.Client{ID: "another"}}); err != nil {
		t.Fatal(err)
	}
	if d := <-api.decided; d.By != "cli" || d.Client != me {
		t.Errorf("decided by %s, %+v", d.By, d.Client)
	}
	if _, err := c.Revoke(t.Context(), broker.Revocation{Number: 2, By: "tui", Client: broker.Client{ID: "another"}}); err != nil {
		t.Fatal(err)
	}
	if r := <-api.revoked; r.Number != 2 || r.By != "cli" || r.Client != me {
		t.Errorf("revoked by %s, %+v", r.By, r.Client)
	}
}

// A result that does not fit into a frame comes in parts.
func TestALargeResult(t *testing.T) {
	text, err := json.Marshal(strings.Repeat("<é", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	want := []broker.Escalation{{ID: "1", Arguments: text}, {ID: "2", Arguments: json.RawMessage("{}")}}
	c := asked(t, Served{Broker: &stub{pending: want}, Right: wire.See})
	for range 2 {
		if got, err := c.Pending(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d calls, %v", len(got), err)
		}
	}
	_, err = c.Decide(t.Context(), broker.Decision{Reason: strings.Repeat("x", wire.MaxFrame)})
	if err == nil || !strings.Contains(err.Error(), "more than the limit") {
		t.Errorf("a call that does not fit into a frame: %v", err)
	}
	if _, err := c.Pending(t.Context()); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// An error arrives with its operation and hint, and an unknown method with who is older.
func TestErrors(t *testing.T) {
	failing := &stub{sessions: func(context.Context) ([]broker.Session, error) {
		return nil, fault.Wrap("list sessions", errors.New("the disk is gone"), "look for it")
	}}
	c := asked(t, Served{Broker: failing, Right: wire.See})
	_, err := c.Sessions(t.Context())
	var e *Error
	if !errors.As(err, &e) || *e != (Error{"list sessions", "the disk is gone", "look for it"}) {
		t.Errorf("%+v", err)
	}
	for protocol, want := range map[int]string{
		wire.Protocol:     "the daemon (old) is older than the program (new)",
		wire.Protocol - 1: "the program (new) is older than the daemon (old)",
	} {
		raw := serve(t, Served{Broker: failing, Right: wire.See, Version: "old", Hello: wire.Hello{Protocol: protocol, Version: "new"}})
		say(t, raw, `{"id":1,"method":"Fly"}`)
		if a := hear(t, raw); a.Error == nil || !strings.Contains(a.Error.Message, want) || protocol < wire.Protocol && strings.Contains(a.Error.Next, "stop") {
			t.Errorf("%+v", a.Error)
		}
	}
}

// The end of a call's context ends the call at the broker; so does the end of its connection.
func TestACallIsGivenUp(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	c := asked(t, Served{Right: wire.See, Broker: &stub{sessions: func(ctx context.Context) ([]broker.Session, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}}})
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error, 1)
	ask := func(ctx context.Context) {
		_, err := c.Sessions(ctx)
		answers <- err
	}
	go ask(ctx)
	<-begun
	cancel()
	<-ended
	if err := <-answers; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go ask(t.Context())
	<-begun
	if err := c.Disconnect(); err != nil {
		t.Error(err)
	}
	<-ended
	if err := <-answers; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A client that reads nothing loses its stream, and its subscription at the broker ends. What it
// reads later is whole, and then the end.
func TestASlowSubscriberIsClosed(t *testing.T) {
	for name, size := range map[string]int{"many events": 10, "many bytes": 100 << 10} {
		t.Run(name, func(t *testing.T) {
			events, over := make(chan broker.Event), make(chan struct{})
			subscribe := publishing(events)
			c := serve(t, Served{Right: wire.See, Broker: &stub{subscribe: func(ctx context.Context) (<-chan broker.Event, error) {
				context.AfterFunc(ctx, func() { close(over) })
				return subscribe(ctx)
			}}})
			say(t, c, `{"id":1,"method":"Subscribe"}`)
			sent := 0
			for open := true; open; {
				select {
				case events <- broker.Event{Kind: broker.EventNotice, Notice: &broker.Notice{Text: strings.Repeat("x", size)}}:
					sent++
				case <-over:
					open = false
				}
			}
			got := 0
			for a := hear(t, c); a.Error == nil; a = hear(t, c) {
				got++
			}
			if got < 1 || got >= sent {
				t.Errorf("%d of %d events arrived", got, sent)
			}
			say(t, c, `{"id":2,"method":"Pending"}`) // the connection goes on
			if a := hear(t, c); a.ID != 2 || a.Error != nil {
				t.Errorf("%+v", a)
			}
		})
	}
}

// A client with the right to answer learns of nothing but waiting calls and their resolutions.
func TestEventsOfTheRightToAnswer(t *testing.T) {
	events := make(chan broker.Event, 4)
	for _, kind := range []broker.EventKind{broker.EventSession, broker.EventNotice, broker.EventEnding, broker.EventResolution} {
		events <- broker.Event{Kind: kind}
	}
	close(events)
	c := asked(t, Served{Broker: &stub{subscribe: publishing(events)}, Right: wire.Answer})
	got, err := c.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for ev := range got {
		if ev.Kind != broker.EventResolution {
			t.Errorf("it learns of %s", ev.Kind)
		}
	}
}

// Whatever a client says, Serve ends with the connection.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"Pending","params":[]}`), []byte(`{"cancel":1}`))
	f.Add([]byte(`{"id":2,"method":"Decide","params":[{"id":"e","approve":true}]}`), []byte(`{"id":2,"method":"Subscribe"}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		api := &stub{decided: make(chan broker.Decision, 2), subscribe: publishing(nil)}
		client, server := pair(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			Serve(context.Background(), server, Served{Broker: api, Right: wire.Answer})
		}()
		_ = client.SendText("fuzz", first)
		_ = client.SendText("fuzz", second)
		_ = client.Close()
		<-done
		for len(api.decided) > 0 {
			if d := <-api.decided; d.Remember != nil || d.By != byCommand {
				t.Errorf("%+v", d)
			}
		}
	})
}

// Whatever the other side answers, a call ends.
func FuzzClient(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":[{"id":"e"}]}`), []byte(`{"id":1,"event":{}}`))
	f.Add([]byte(`{"id":1,"part":"bnVsbA=="}`), []byte(`{"id":1,"error":{"message":"no"}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := pair(t)
		c := NewClient(a)
		asked := make(chan error, 1)
		go func() {
			_, err := c.Pending(context.Background())
			asked <- err
		}()
		if _, err := b.ReceiveText(); err != nil {
			t.Fatal(err)
		}
		_ = b.SendText("fuzz", first)
		_ = b.SendText("fuzz", second)
		_ = b.Close()
		<-asked
		_ = c.Disconnect()
	})
}
