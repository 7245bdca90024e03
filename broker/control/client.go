package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Client asks the running multiplexers of one home. There can be several, each with
// sessions of its own. Lists contain the entries of all of them, and a decision goes to the
// multiplexer of its call.
type Client struct{ each []*connection }

// connection asks one multiplexer.
type connection struct{ http *http.Client }

// Dial returns a client for the multiplexers of that home. If none is running, the first
// call returns ErrNotRunning.
func Dial(home string) *Client {
	c := &Client{}
	for n := 1; n <= maxServers; n++ {
		path := socketPath(home, n)
		c.each = append(c.each, &connection{&http.Client{
			Timeout: 2*time.Second + endingWait,
			Transport: &http.Transport{
				DisableKeepAlives: true,
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, "unix", path)
				},
			},
		}})
	}
	return c
}

// collect joins the lists of all multiplexers. When there are several, it sets the
// multiplexer of each entry. An error of one is an error of collect, because an incomplete
// list would be taken for a complete one.
func collect[T any](c *Client, ask func(*connection) ([]T, error), belongs func(entry *T, multiplexer int)) ([]T, error) {
	var all []T
	var whose []int // by entry
	running := 0
	for n, one := range c.each {
		list, err := ask(one)
		if errors.Is(err, ErrNotRunning) {
			continue
		}
		if err != nil {
			return nil, err
		}
		running++
		all = append(all, list...)
		whose = append(whose, slices.Repeat([]int{n + 1}, len(list))...)
	}
	switch running {
	case 0:
		return nil, ErrNotRunning
	case 1:
		return all, nil
	}
	for i := range all {
		belongs(&all[i], whose[i])
	}
	return all, nil
}

// first returns the answer of the first multiplexer that knows what it is asked for. When
// none does, it returns the refusal of one.
func first[T any](c *Client, ask func(*connection) (T, error)) (T, error) {
	var none T
	refusal := ErrNotRunning
	for _, one := range c.each {
		answer, err := ask(one)
		if err == nil {
			return answer, nil
		}
		var remote *RemoteError
		switch {
		case errors.Is(err, ErrNotRunning):
		case errors.As(err, &remote):
			refusal = err
		default:
			return none, err
		}
	}
	return none, refusal
}

// Sessions lists the open sessions.
func (c *Client) Sessions(ctx context.Context) ([]broker.Session, error) {
	return collect(c, func(one *connection) ([]broker.Session, error) { return one.sessions(ctx) },
		func(s *broker.Session, n int) { s.Multiplexer = n })
}

// Pending lists what waits for a person.
func (c *Client) Pending(ctx context.Context) ([]broker.Escalation, error) {
	return collect(c, func(one *connection) ([]broker.Escalation, error) { return one.pending(ctx) },
		func(e *broker.Escalation, n int) { e.Multiplexer = n })
}

// Grants lists the grants in force.
func (c *Client) Grants(ctx context.Context) ([]broker.Grant, error) {
	return collect(c, func(one *connection) ([]broker.Grant, error) { return one.grants(ctx) },
		func(r *broker.Grant, n int) { r.Multiplexer = n })
}

// Scopes lists what an approval of a waiting call could be remembered for.
func (c *Client) Scopes(ctx context.Context, id string) ([]broker.Scope, error) {
	return first(c, func(one *connection) ([]broker.Scope, error) { return one.scopes(ctx, id) })
}

// Decide answers one escalation and waits for some seconds for the end of the call.
func (c *Client) Decide(ctx context.Context, d broker.Decision) (Decided, error) {
	return first(c, func(one *connection) (Decided, error) { return one.decide(ctx, d) })
}

// Revoke ends a grant. Each multiplexer numbers its own grants, so Revoke refuses a number
// that two of them have.
func (c *Client) Revoke(ctx context.Context, number int) (broker.Grant, error) {
	var holders Client
	var names []string
	for n, one := range c.each {
		list, err := one.grants(ctx)
		if err != nil && !errors.Is(err, ErrNotRunning) {
			return broker.Grant{}, err
		}
		for _, r := range list {
			if r.Number == number {
				holders.each = append(holders.each, one)
				names = append(names, strconv.Itoa(n+1))
			}
		}
	}
	switch len(holders.each) {
	case 0:
		return first(c, func(one *connection) (broker.Grant, error) { return one.revoke(ctx, number) })
	case 1:
		return holders.each[0].revoke(ctx, number)
	}
	return broker.Grant{}, &RemoteError{
		Message: fmt.Sprintf("revoke: the multiplexers %s have a grant %d each", strings.Join(names, " and "), number),
		Next:    "end it with /revoke where it was made",
	}
}

// RevokeAll ends the grants of every multiplexer.
func (c *Client) RevokeAll(ctx context.Context) error {
	asked := false
	for _, one := range c.each {
		list, err := one.grants(ctx)
		if errors.Is(err, ErrNotRunning) {
			continue
		}
		if err != nil {
			return err
		}
		asked = true
		for _, r := range list {
			if _, err := one.revoke(ctx, r.Number); err != nil {
				return err
			}
		}
	}
	if !asked {
		return ErrNotRunning
	}
	return nil
}
