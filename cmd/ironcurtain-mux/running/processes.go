package running

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// ErrNotRunning means that no process of this home has sessions.
var ErrNotRunning = errors.New("no multiplexer is running")

// askLimit is how long a running process may take to answer. A list of waiting calls can be 64 MiB
// long, and the machine busy.
const askLimit = 30 * time.Second

// Processes are those of a home that have sessions: the daemon, and those that work
// without it.
type Processes []*calls.Client

// aloneSocket is where a process that is no daemon can be asked; "*" for the process: any.
func aloneSocket(home, process string) string {
	return filepath.Join(home, "run", "start-"+process+".sock")
}

// ServeCalls lets other commands ask this process, which is no daemon, until stop is called.
func ServeCalls(ctx context.Context, home string, b broker.Calls, log *slog.Logger) (stop func(), err error) {
	path := aloneSocket(home, strconv.Itoa(os.Getpid()))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("serve other commands: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a killed process
		return nil, fmt.Errorf("serve other commands: %w", err)
	}
	l, err := wire.ListenPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("serve other commands: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d := &daemon.Daemon{Version: cli.ThisBuild().Version, Log: log, Calls: b, End: func() string { return "" }}
		if err := d.Serve(ctx, l.(*net.UnixListener)); err != nil {
			log.Error("other commands are not served any more", "error", err)
		}
	}()
	return func() { cancel(); <-done }, nil
}

// Ask connects to every process that has sessions. done ends the connections.
func Ask(ctx context.Context, home string) (all Processes, done func(), err error) {
	done = func() {
		for _, c := range all {
			_ = c.Disconnect()
		}
	}
	alone, _ := filepath.Glob(aloneSocket(home, "*")) // the pattern is right
	for _, socket := range append([]string{daemon.SocketPath(home)}, alone...) {
		c, err := connect(ctx, socket)
		if errors.Is(err, client.ErrNoDaemon) {
			continue
		}
		if err != nil {
			done()
			return nil, nil, err
		}
		all = append(all, c)
	}
	return all, done, nil
}

func connect(ctx context.Context, socket string) (*calls.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	me := ClientAt(os.Stdin)
	return calls.Connect(ctx, socket, wire.Hello{Version: cli.ThisBuild().Version, Name: me.Name, Terminal: me.Terminal})
}

// RemoveStale removes the sockets of processes that were killed, and returns their paths. With
// dryRun it only returns them.
func RemoveStale(ctx context.Context, home string, dryRun bool) (stale []string, err error) {
	alone, _ := filepath.Glob(aloneSocket(home, "*")) // the pattern is right
	for _, path := range alone {
		c, errDial := connect(ctx, path)
		if errDial == nil {
			_ = c.Disconnect()
		}
		if !errors.Is(errDial, client.ErrNoDaemon) {
			continue
		}
		stale = append(stale, path)
		if !dryRun {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return stale, err
}

// collect joins the lists of all processes. When there are several, it sets the number of each
// entry's. An error of one is an error of collect, because an incomplete list would be taken for
// a complete one.
func collect[T any](ctx context.Context, all Processes, ask func(broker.Calls, context.Context) ([]T, error), number func(*T) *int) ([]T, error) {
	if len(all) == 0 {
		return nil, ErrNotRunning
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var out []T
	for i, one := range all {
		list, err := ask(one, ctx)
		if err != nil {
			return nil, err
		}
		for j := range list {
			if len(all) > 1 {
				*number(&list[j]) = i + 1
			}
		}
		out = append(out, list...)
	}
	return out, nil
}

// first returns the answer of the first process that knows what it is asked for. When none does,
// it returns the refusal of one.
func first[T any](ctx context.Context, all Processes, ask func(context.Context, *calls.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	var none T
	refusal := ErrNotRunning
	for _, one := range all {
		answer, err := ask(ctx, one)
		if err == nil {
			return answer, nil
		}
		if refused := (*calls.Error)(nil); !errors.As(err, &refused) {
			return none, err
		}
		refusal = err
	}
	return none, refusal
}

// Sessions lists the sessions of all processes.
func (all Processes) Sessions(ctx context.Context) ([]broker.Session, error) {
	return collect(ctx, all, broker.Calls.Sessions, func(s *broker.Session) *int { return &s.Multiplexer })
}

// Pending lists the calls that wait, of all processes.
func (all Processes) Pending(ctx context.Context) ([]broker.Escalation, error) {
	return collect(ctx, all, broker.Calls.Pending, func(e *broker.Escalation) *int { return &e.Multiplexer })
}

// Grants lists the grants of all processes.
func (all Processes) Grants(ctx context.Context) ([]broker.Grant, error) {
	return collect(ctx, all, broker.Calls.Grants, func(g *broker.Grant) *int { return &g.Multiplexer })
}

// Scopes lists what an approval of a waiting call may be remembered for.
func (all Processes) Scopes(ctx context.Context, id string) ([]broker.Scope, error) {
	return first(ctx, all, func(ctx context.Context, one *calls.Client) ([]broker.Scope, error) { return one.Scopes(ctx, id) })
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

// Decide answers an escalation and waits for the end of its call.
func (all Processes) Decide(ctx context.Context, d broker.Decision) (SettledCall, error) {
	return first(ctx, all, func(ctx context.Context, one *calls.Client) (SettledCall, error) {
		events, err := one.Subscribe(ctx) // first: the ending can be told at once
		if err != nil {
			return SettledCall{}, err
		}
		r, err := one.Decide(ctx, d)
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
	})
}

// Revoke ends the grant with that number, or all grants for 0. Each process numbers its own
// grants, so revoke refuses a number that two of them have.
func (all Processes) Revoke(ctx context.Context, number int) error {
	if len(all) == 0 {
		return ErrNotRunning
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	type held struct {
		by *calls.Client
		r  broker.Revocation
	}
	var found []held
	var names []string
	for i, one := range all {
		list, err := one.Grants(ctx)
		if err != nil {
			return err
		}
		for _, g := range list {
			if number == 0 || g.Number == number {
				found = append(found, held{one, broker.Revocation{Number: g.Number}})
				names = append(names, strconv.Itoa(i+1))
			}
		}
	}
	switch {
	case number != 0 && len(found) > 1:
		return cli.Fail("revoke", fmt.Errorf("the multiplexers %s have a grant %d each", strings.Join(slices.Compact(names), " and "), number),
			"end it with /revoke where it was made")
	case number != 0 && len(found) == 0:
		_, err := first(ctx, all, func(ctx context.Context, one *calls.Client) (broker.Grant, error) {
			return one.Revoke(ctx, broker.Revocation{Number: number})
		})
		return err
	}
	for _, h := range found {
		if _, err := h.by.Revoke(ctx, h.r); err != nil {
			return err
		}
	}
	return nil
}

// TabText names a tab, and its multiplexer if there are several.
func TabText(tab, multiplexer int) string {
	if multiplexer == 0 {
		return strconv.Itoa(tab)
	}
	return fmt.Sprintf("%d of multiplexer %d", tab, multiplexer)
}
