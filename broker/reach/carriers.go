package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// How many carriers may be made at once, and how often one more. Each costs the engine a program's
// start, outside of the agent's limits, and the agent can end them as fast as they are made.
const (
	carriersAtOnce = 60
	carrierEvery   = 3 * time.Second
)

// pace bounds how often something is done.
type pace struct{ until time.Time } // when all that was done would be allowed again

// next takes the next turn, and returns how long to wait for it.
func (p *pace) next(now time.Time) time.Duration {
	if p.until.Before(now) {
		p.until = now
	}
	p.until = p.until.Add(carrierEvery)
	return max(0, p.until.Sub(now)-carriersAtOnce*carrierEvery)
}

// Pauses before another carrier is made: after one that has carried something, and at most.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// tellAfter is for how long nothing may carry a link before the person is told.
const tellAfter = 10 * time.Second

// carry makes carriers for a link, one after the other, until the link ends or no carrier has
// come for awayLimit.
func (s *Stream) carry(ctx context.Context, l *link.Link) {
	defer l.Close()
	pause, last, told := firstPause, time.Now(), false
	timer := time.NewTimer(s.pace.next(time.Now()))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-l.Done():
			return
		case <-ctx.Done():
			return
		}
		carried, err := s.carryOnce(ctx, l)
		switch {
		case carried:
			pause, last, told = firstPause, time.Now(), false
		case time.Since(last) > awayLimit:
			if !l.Arrived() {
				s.order.Tell("what you typed since the connection to the container was lost did not arrive: type it again when the terminal goes on")
			}
			return
		default:
			pause = min(2*pause, mostPause)
			ended := errors.Is(err, docker.ErrNotRunning) // which is told by whoever waits for the container
			if time.Since(last) > tellAfter && !told && !ended && ctx.Err() == nil {
				told = true
				s.order.Tell(fmt.Sprintf("the connection to the container is lost; the terminal goes on when it is back: %s (%s)", quote(err.Error()),
					cmp.Or(fault.Hint(err), "/restart starts the agent anew")))
			}
		}
		timer.Reset(max(pause, s.pace.next(time.Now())))
	}
}

// carryOnce uses one carrier until it breaks, and reports whether it has carried anything, and why
// it broke.
func (s *Stream) carryOnce(ctx context.Context, l *link.Link) (carried bool, err error) {
	conn, err := s.engine.Stream(ctx, s.container.ID(), s.order.Carry, s.order.User)
	if err != nil {
		return false, err
	}
	began := time.Now()
	err = l.Carry(ctx, conn, nil)
	return l.Carried().After(began), err
}
