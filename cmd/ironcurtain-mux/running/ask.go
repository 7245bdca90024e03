package running

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/shortid"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// ErrNotRunning means that no daemon of this home runs.
var ErrNotRunning = errors.New("no multiplexer is running")

// askLimit is how long the daemon may take to answer. A list of waiting calls can be 64 MiB long,
// and the machine busy.
const askLimit = 30 * time.Second

// Ask connects to the daemon of a home, calls ask, and closes the connection. The error is
// ErrNotRunning when no daemon runs. With an answer token, only what the token allows succeeds.
func Ask(ctx context.Context, home string, ask func(context.Context, *calls.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return AskLong(ctx, home, ask)
}

// AskLong is Ask without a time limit, for calls that the daemon itself limits.
func AskLong(ctx context.Context, home string, ask func(context.Context, *calls.Client) error) error {
	o := optionsAt(home)
	hello := wire.Hello{Version: o.Version, Name: o.Name, Terminal: o.Terminal}
	connect := calls.Connect
	if token := os.Getenv(client.TokenVariable); token != "" {
		hello.Token, hello.Rights, o.Socket = token, wire.Answer, daemon.TokenSocketPath(home)
		connect = connectWithToken
	}
	c, err := connect(ctx, o.Socket, hello)
	if errors.Is(err, client.ErrNoDaemon) {
		return ErrNotRunning
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Disconnect() }()
	return ask(ctx, c)
}

// upgradeLimit is how long a client with a token waits for the end of an upgrade.
const upgradeLimit = 10 * time.Second

// connectWithToken is calls.Connect for a client with a token. A daemon that is being upgraded does not
// listen on its socket for a short time, and a killed one leaves it, too; a daemon that ends removes it.
func connectWithToken(ctx context.Context, socket string, hello wire.Hello) (*calls.Client, error) {
	over := time.After(upgradeLimit)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := calls.Connect(ctx, socket, hello)
		if !errors.Is(err, client.ErrNoDaemon) {
			return c, err
		}
		if _, err := os.Stat(socket); err != nil {
			return nil, fault.New("'ironcurtain-mux tokens create' makes one", "the token in %s cannot be used: no daemon runs, or it has no token", client.TokenVariable)
		}
		select {
		case <-again.C:
		case <-over:
			return nil, fault.New("try again when a daemon runs", "the token in %s cannot be used: the daemon does not answer, because it was killed or is being upgraded", client.TokenVariable)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// AskIfRunning is Ask, but without a daemon it does nothing.
func AskIfRunning(ctx context.Context, home string, ask func(context.Context, *calls.Client) error) error {
	if err := Ask(ctx, home, ask); !errors.Is(err, ErrNotRunning) {
		return err
	}
	return nil
}

// WaitingCall finds a waiting call by its id, the beginning of its id, or its number. found is false
// when no call fits; the error says that several do.
func WaitingCall(ctx context.Context, c *calls.Client, word string) (e broker.Escalation, found bool, err error) {
	list, err := c.Pending(ctx)
	if err != nil {
		return e, false, err
	}
	ones := make([]shortid.One, len(list))
	for i, e := range list {
		ones[i] = shortid.One{ID: e.ID, Number: e.Number}
	}
	at, found, err := shortid.Find("waiting call", word, ones)
	if found {
		e = list[at]
	}
	return e, found, err
}

// endingWait is how long a decision waits for the end of the call. If the call takes
// longer, the answer says that it is under way.
const endingWait = 8 * time.Second

// SettledCall is the answer to a decision.
type SettledCall struct {
	broker.Resolution
	// Ending says how the call ended; nil while that is not known, and for a decision
	// that was not the first.
	Ending *broker.Ending
}

// Decide answers an escalation and waits for the end of its call. With an answer token it does not
// wait, because tokens get no events.
func Decide(ctx context.Context, c *calls.Client, d broker.Decision) (SettledCall, error) {
	if os.Getenv(client.TokenVariable) != "" {
		r, err := c.Decide(ctx, d)
		return SettledCall{Resolution: r}, err
	}
	events, err := c.Subscribe(ctx) // before the decision: the call can end at once
	if err != nil {
		return SettledCall{}, err
	}
	r, err := c.Decide(ctx, d)
	out := SettledCall{Resolution: r}
	if err != nil || !r.Won {
		return out, err
	}
	limit := time.After(endingWait)
	for {
		select {
		case ev, more := <-events:
			if !more || ev.Ending != nil && ev.Ending.ID == r.ID {
				out.Ending = ev.Ending
				return out, nil
			}
		case <-limit:
			return out, nil
		}
	}
}
