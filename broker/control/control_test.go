package control_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/control"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a broker with one session and one escalation; it embeds the interface
// so that calling anything else fails loudly.
type api struct {
	broker.API
	decided []broker.Decision
	waits   string // the id of the call that waits here; empty: none
	events  chan broker.Event
	made    chan struct{} // closed by a decision about whose call nothing more is told; or nil
}

func (a *api) Sessions(context.Context) ([]broker.Session, error) {
	return []broker.Session{{ID: "s1", Tab: 1, Agent: "shell", State: broker.StateIdle}}, nil
}

func (a *api) Pending(context.Context) ([]broker.Escalation, error) {
	if a.waits == "" {
		return nil, nil
	}
	return []broker.Escalation{{ID: a.waits}}, nil
}

func (a *api) Subscribe(context.Context) (<-chan broker.Event, error) {
	a.events = make(chan broker.Event, 2)
	return a.events, nil
}

func (a *api) Decide(_ context.Context, d broker.Decision) (broker.Resolution, error) {
	a.decided = append(a.decided, d)
	if a.made != nil {
		close(a.made)
	} else {
		a.events <- broker.Event{Ending: &broker.Ending{ID: "another", State: broker.EndDone}}
		a.events <- broker.Event{Ending: &broker.Ending{ID: d.ID, State: broker.EndRefused, Reason: "of a full disk"}}
	}
	if d.ID != "e1" && d.ID != a.waits || d.ID == "" {
		return broker.Resolution{}, &fault.Error{Err: errors.New("no escalation " + d.ID), Next: "list them with 'pending'"}
	}
	return broker.Resolution{ID: d.ID, Outcome: broker.Approved, By: d.By, Won: true}, nil
}

func (a *api) Scopes(_ context.Context, id string) ([]broker.Scope, error) {
	if id != "e1&?" {
		return nil, errors.New("no such call waits")
	}
	return []broker.Scope{{Name: "file", Matched: 2, Past: 3}}, nil
}

func (a *api) Grants(context.Context) ([]broker.Grant, error) {
	return []broker.Grant{{Number: 7, Scope: "file"}}, nil
}

func (a *api) Revoke(_ context.Context, n int, by string) (broker.Grant, error) {
	if n != 7 || by != "cli" {
		return broker.Grant{}, errors.New("no such grant is in force")
	}
	return broker.Grant{Number: n}, nil
}

func TestRules(t *testing.T) {
	dir := home(t)
	serve(t, dir, &api{})
	c := control.Dial(dir)
	if scopes, err := c.Scopes(t.Context(), "e1&?"); err != nil || len(scopes) != 1 || scopes[0].Matched != 2 {
		t.Fatal(scopes, err)
	}
	if grants, err := c.Grants(t.Context()); err != nil || len(grants) != 1 || grants[0].Number != 7 {
		t.Fatal(grants, err)
	}
	if r, err := c.Revoke(t.Context(), 7); err != nil || r.Number != 7 {
		t.Fatal(r, err)
	}
	if _, err := c.Revoke(t.Context(), 8); err == nil {
		t.Fatal("a grant that is none was revoked")
	}
	if err := c.RevokeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := control.Dial(home(t)).RevokeAll(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Fatal(err)
	}
}

func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t *testing.T, dir string, a broker.API) {
	t.Helper()
	s, err := control.Listen(dir, a, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	dir, a := home(t), &api{}
	serve(t, dir, a)
	c := control.Dial(dir)

	sessions, err := c.Sessions(t.Context())
	if err != nil || len(sessions) != 1 || sessions[0].ID != "s1" || sessions[0].Multiplexer != 0 {
		t.Fatalf("sessions: %v %v", sessions, err)
	}
	pending, err := c.Pending(t.Context())
	if err != nil || len(pending) != 0 {
		t.Fatalf("pending: %v %v", pending, err)
	}
	r, err := c.Decide(t.Context(), broker.Decision{ID: "e1", Approve: true, By: "tui"})
	if err != nil || !r.Won || r.Outcome != broker.Approved {
		t.Fatalf("decide: %+v %v", r, err)
	}
	if r.Ending == nil || r.Ending.ID != "e1" || r.Ending.State != broker.EndRefused || r.Ending.Reason != "of a full disk" {
		t.Fatalf("what became of the call: %+v", r.Ending)
	}
	if len(a.decided) != 1 || !a.decided[0].Approve || a.decided[0].By != "cli" {
		t.Fatalf("the broker saw %+v", a.decided)
	}
}

// The end of the multiplexer does not wait for what becomes of a call.
func TestTheEndIsNotHeldUp(t *testing.T) {
	dir, a := home(t), &api{made: make(chan struct{})}
	s, err := control.Listen(dir, a, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan control.Decided, 1)
	go func() {
		r, err := control.Dial(dir).Decide(t.Context(), broker.Decision{ID: "e1", Approve: true})
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	<-a.made
	began := time.Now()
	if err := s.Close(context.Background()); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if r := <-answered; !r.Won || r.Ending != nil {
		t.Errorf("%+v", r)
	}
}

func TestRefusalKeepsItsHint(t *testing.T) {
	dir := home(t)
	serve(t, dir, &api{})
	_, err := control.Dial(dir).Decide(t.Context(), broker.Decision{ID: "nope"})
	var remote *control.RemoteError
	if !errors.As(err, &remote) || remote.Hint() == "" {
		t.Fatalf("got %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	if _, err := control.Dial(home(t)).Pending(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Fatalf("got %v", err)
	}
}

// Two multiplexers share a home: what waits in either is listed, and a decision
// finds the one that it belongs to.
func TestTwoMultiplexers(t *testing.T) {
	dir := home(t)
	serve(t, dir, &api{waits: "here"})
	serve(t, dir, &api{waits: "there"})
	client := control.Dial(dir)
	list, err := client.Pending(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != "here" || list[1].ID != "there" || list[0].Multiplexer != 1 || list[1].Multiplexer != 2 {
		t.Errorf("waiting: %+v, %v", list, err)
	}
	if sessions, err := client.Sessions(t.Context()); err != nil || len(sessions) != 2 || sessions[1].Multiplexer != 2 {
		t.Errorf("sessions: %+v, %v", sessions, err)
	}
	if grants, err := client.Grants(t.Context()); err != nil || len(grants) != 2 || grants[1].Multiplexer != 2 {
		t.Errorf("grants: %+v, %v", grants, err)
	}
	if _, err := client.Revoke(t.Context(), 7); err == nil || !strings.Contains(err.Error(), "multiplexers 1 and 2") {
		t.Errorf("a grant of both: %v", err)
	}
	for _, id := range []string{"here", "there"} {
		t.Run(id, func(t *testing.T) {
			if r, err := client.Decide(t.Context(), broker.Decision{ID: id}); err != nil || r.ID != id || !r.Won {
				t.Errorf("%s: %+v, %v", id, r, err)
			}
		})
	}
	var remote *control.RemoteError
	if _, err := client.Decide(t.Context(), broker.Decision{ID: "nope"}); !errors.As(err, &remote) {
		t.Errorf("a call that waits nowhere: %v", err)
	}
}

func TestTooManyMultiplexersAreRefused(t *testing.T) {
	dir := home(t)
	for range 16 {
		serve(t, dir, &api{})
	}
	if _, err := control.Listen(dir, &api{}, slog.New(slog.DiscardHandler)); !errors.Is(err, control.ErrBusy) {
		t.Fatalf("got %v", err)
	}
}

func TestSocketIsPrivateAndStaleOnesAreReplaced(t *testing.T) {
	dir := home(t)
	if err := os.MkdirAll(dir+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(control.SocketPath(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, dir, &api{})
	info, err := os.Stat(control.SocketPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Mode().Type() != fs.ModeSocket {
		t.Fatalf("mode %v", info.Mode())
	}
}
