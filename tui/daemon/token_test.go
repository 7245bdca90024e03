package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// startWithTokens serves the calls of a queue, also on the socket for clients with a token.
func startWithTokens(t *testing.T) (s *served, queue *approval.Queue, socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	queue, socket = approval.New(approval.Options{}), filepath.Join(dir, "answer.sock")
	if err := os.WriteFile(socket, nil, 0o600); err != nil { // of a daemon that was killed
		t.Fatal(err)
	}
	tokens, err := token.Open(filepath.Join(dir, "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	s = startWith(t, until, queued{queue: queue}, func(d *Daemon) { d.Tokens, d.TokenSocket = tokens, socket })
	return s, queue, socket
}

// make makes a token for session "s".
func (s *served) makeToken(name string, denyOnly bool) (secret string) {
	s.t.Helper()
	secret, err := client.MakeToken(s.t.Context(), s.options(nil), wire.MakeToken{Name: name, Sessions: []string{"s"}, DenyOnly: denyOnly, Life: time.Hour})
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// there tests whether a socket is there, for its owner only.
func there(t *testing.T, path string, want bool) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || (err == nil) != want {
		t.Fatalf("%s is there: %v, %v", path, !want, err)
	}
	if err == nil && info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("%s is %s", path, info.Mode())
	}
}

// The socket is there while a token is. Whoever has a token answers calls of its sessions, until it
// is revoked; the connection ends then.
func TestTheSocketOfTokens(t *testing.T) {
	s, queue, socket := startWithTokens(t)
	if list, err := client.Tokens(t.Context(), s.options(nil)); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	there(t, socket, false)
	secret, other := s.makeToken("bot", false), s.makeToken("other", true)
	there(t, socket, true)
	ended := make(chan approval.Resolution, 1)
	_, changes := queue.Subscribe(t.Context())
	go func() {
		r, err := queue.Ask(t.Context(), approval.Escalation{ID: "1", Session: "s", Digest: "d", Timeout: time.Hour})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	<-changes
	hello := wire.Hello{Name: "somebody else", Terminal: "/dev/pts/1", Rights: wire.Answer, Token: secret}
	c, err := calls.Connect(t.Context(), socket, hello)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Disconnect() }()
	if list, err := c.Pending(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if r, err := c.Decide(t.Context(), broker.Decision{ID: "1", Digest: "d", Approve: true}); err != nil || !r.Won {
		t.Errorf("%+v, %v", r, err)
	}
	if r := <-ended; r.Outcome != approval.Approved || r.Client.Decider(r.By) != "token (bot)" {
		t.Errorf("%+v", r)
	}
	if len(s.attended) > 0 {
		t.Error("it counts for somebody who is there")
	}
	list, err := client.Tokens(t.Context(), s.options(nil))
	if err != nil || len(list) != 2 || list[0].Name != "bot" || list[0].Used.IsZero() || !list[1].DenyOnly {
		t.Errorf("%+v, %v", list, err)
	}
	if end, err := client.RevokeToken(t.Context(), s.options(nil), "bot"); err != nil || !strings.Contains(end, "bot") {
		t.Errorf("%q, %v", end, err)
	}
	for err = nil; err == nil; { // the connection may take a moment to end
		_, err = c.Pending(t.Context())
	}
	if _, err := calls.Connect(t.Context(), socket, hello); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a revoked token: %v", err)
	}
	hello.Token = other
	again, err := calls.Connect(t.Context(), socket, hello)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Disconnect(); err != nil {
		t.Error(err)
	}
	if _, err := client.RevokeToken(t.Context(), s.options(nil), "other"); err != nil {
		t.Error(err)
	}
	there(t, socket, false)
	if _, err := client.RevokeToken(t.Context(), s.options(nil), "other"); err == nil {
		t.Error("it was revoked twice")
	}
	hello.Token = s.makeToken("last", false)
	there(t, socket, true)
	wrong := hello
	wrong.Token = "wrong"
	for range 10 {
		_, _ = calls.Connect(t.Context(), socket, wrong)
	}
	if _, err := calls.Connect(t.Context(), socket, hello); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("after too many wrong tokens: %v", err)
	}
	s.stop()
	there(t, socket, false)
	if log := s.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "a token is used") || !strings.Contains(log, "name=bot") || strings.Count(log, "a wrong token was shown") != 5 {
		t.Errorf("the log: %s", log)
	}
}
