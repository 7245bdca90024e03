package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
)

// An attempt at more than one is allowed; try succeeds if it returns no error.
type attempt struct {
	name string
	try  func(ctx context.Context) error
}

// frames are what a client may ask for in place of a view, if it operates.
var frames = map[string]any{
	wire.KindStop:        wire.Stop{Now: true},
	wire.KindKick:        wire.Kick{Client: "a"},
	wire.KindUpgrade:     wire.Upgrade{Now: true},
	wire.KindTask:        wire.Task{Text: "x"},
	wire.KindTokens:      nil,
	wire.KindMakeToken:   wire.MakeToken{Name: "more", Sessions: []string{"s"}, Life: time.Hour},
	wire.KindRevokeToken: wire.RevokeToken{Name: "bot"},
}

// asking sends a hello and a frame, and returns why the frame is refused; nil: it is not.
func asking(ctx context.Context, socket string, h wire.Hello, kind string, body any) error {
	c, _, err := wire.Dial(ctx, socket, h)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Send(kind, body); err != nil {
		return err
	}
	f, err := c.Receive()
	if err != nil {
		return err
	}
	defer f.Close()
	var r wire.Refused
	if f.Kind != wire.KindRefused || f.Into(&r) != nil {
		return nil
	}
	return fmt.Errorf("refused: %s", r.Reason)
}

// Whoever has less than all rights tries to get more. Here are the attempts in frames, and those of
// a helper with a token, at a broker that ends the test if anything of it is reached but its queue.
// The others are tried elsewhere, about a hundred together:
//
//	who                          tries                                          in
//	read-only, answer-only       each method that is more, forged members,      TestALimitedClientGetsNoMore
//	                             Submit, Attach, another hello
//	                             another's name, frames that are no calls       TestWhatIsNoCallEndsTheConnection
//	                             programs, keys, an environment, a tab, /quit   TestALimitedViewHasNoMore
//	                             a program at its own client                    TestALimitedClientLendsNothing
//	read-only, at a terminal     keys, commands, sizes                          TestAReadOnlyTerminal
//	answer-only, over ssh        shells, files, forwarding, other commands      TestAnAuthorizedKeyOnlyAnswers
//	a token, from a sandbox      other sessions, approvals, grants, a wrong     TestATokenAnswers
//	                             token; after it was revoked                    TestTheSocketOfTokens
//	anybody                      frames too long, descriptors too many          TestFramesThatAreRefused
//	another user                 anything                                       TestAnotherUserIsRefused
//	a terminal in a tab          a view                                         TestStrangersAreRefused
//	a container, a tool server   the daemon's sockets, terminals, descriptors   seals, in TestACallWaitsInEveryView
//	a container                  hosts, ports, endpoints, keys, files, root     isolated, in TestRealAgents
func TestAttemptsAtMore(t *testing.T) {
	s, queue, socket := startWithTokens(t)
	bot, deny := s.makeToken("bot", false), s.makeToken("deny", true)
	there(t, socket, true)
	for id, session := range map[string]string{"1": "s", "2": "other"} {
		go func() {
			_, _ = queue.Ask(t.Context(), approval.Escalation{ID: id, Session: session, Digest: "d", Timeout: time.Hour})
		}()
	}
	see := s.connect(wire.Hello{Rights: wire.See})
	connect := func(secret string) *calls.Client {
		c, err := calls.Connect(t.Context(), socket, wire.Hello{Rights: wire.Answer, Token: secret})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Disconnect() })
		return c
	}
	helper, denier := connect(bot), connect(deny)
	decide := func(c *calls.Client, id string, approve bool) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := c.Decide(ctx, broker.Decision{ID: id, Digest: "d", Approve: approve})
			return err
		}
	}
	var all []attempt
	for kind, body := range frames {
		for _, right := range []wire.Right{wire.See, wire.Answer} {
			all = append(all, attempt{fmt.Sprintf("one with %q asks for %s", right, kind), func(ctx context.Context) error {
				return asking(ctx, SocketPath(s.home), wire.Hello{Kind: wire.ForView, Rights: right}, kind, body)
			}})
		}
		all = append(all, attempt{"a helper asks for " + kind, func(ctx context.Context) error {
			return asking(ctx, socket, wire.Hello{Kind: wire.ForView, Rights: wire.Answer, Token: bot}, kind, body)
		}})
	}
	all = append(all,
		attempt{"one that sees approves", decide(see, "1", true)},
		attempt{"one that sees denies", decide(see, "1", false)},
		attempt{"one that answers lists the clients", func(ctx context.Context) error {
			return asking(ctx, SocketPath(s.home), wire.Hello{Kind: wire.ForView, Rights: wire.Answer}, wire.KindClients, nil)
		}},
		attempt{"a helper approves a call of another session", decide(helper, "2", true)},
		attempt{"a helper denies a call of another session", decide(helper, "2", false)},
		attempt{"a helper that may only deny approves", decide(denier, "1", true)},
	)
	for name, try := range map[string]func(context.Context) error{
		"remembers an approval": func(ctx context.Context) error {
			_, err := helper.Decide(ctx, broker.Decision{ID: "1", Digest: "d", Approve: true, Remember: &broker.Remember{Scope: "exact"}})
			return err
		},
		"lists the sessions": func(ctx context.Context) error { _, err := helper.Sessions(ctx); return err },
		"lists the grants":   func(ctx context.Context) error { _, err := helper.Grants(ctx); return err },
		"opens a tab":        func(ctx context.Context) error { _, err := helper.Open(ctx, broker.OpenRequest{}); return err },
		"saves a file":       func(ctx context.Context) error { _, err := helper.SaveFile(ctx, "s", broker.SaveRequest{}); return err },
	} {
		all = append(all, attempt{"a helper " + name, try})
	}
	for name, h := range map[string]wire.Hello{
		"no token":                   {Kind: wire.ForCalls, Rights: wire.Answer},
		"half a token":               {Kind: wire.ForCalls, Rights: wire.Answer, Token: bot[:20]},
		"the token twice":            {Kind: wire.ForCalls, Rights: wire.Answer, Token: bot + bot},
		"a token and all rights":     {Kind: wire.ForCalls, Rights: wire.Operate, Token: bot},
		"a token, to see":            {Kind: wire.ForCalls, Rights: wire.See, Token: bot},
		"a token, for a view":        {Kind: wire.ForView, Rights: wire.Answer, Token: bot},
		"a token, for nothing known": {Kind: "root", Rights: wire.Answer, Token: bot},
		"the name of a token":        {Kind: wire.ForCalls, Rights: wire.Answer, Token: "bot", Name: "bot"},
	} {
		all = append(all, attempt{"somebody comes with " + name, func(ctx context.Context) error {
			c, _, err := wire.Dial(ctx, socket, h)
			if err == nil {
				_ = c.Close()
			}
			return err
		}})
	}
	for _, a := range all {
		if err := a.try(t.Context()); err == nil {
			t.Errorf("%s, and may", a.name)
		} else if strings.Contains(err.Error(), "ended") {
			t.Errorf("%s, and ends the connection: %v", a.name, err)
		}
	}
	if len(all) < 40 {
		t.Errorf("%d attempts", len(all))
	}
	if n := len(queue.Pending()); n != 2 || len(s.kicked) > 0 {
		t.Errorf("%d calls wait, %d clients were detached", n, len(s.kicked))
	}
	if _, err := s.connect(wire.Hello{}).Pending(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	t.Log(len(all), "attempts")
}
