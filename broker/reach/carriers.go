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

// How many carriers may be made at once, and then how often. Each makes the engine start a program,
// outside of the agent's limits, and the agent can end them as fast as they are made.
const (
	carriersAtOnce = 60
	carrierEvery   = 3 * time.Second
)

// pace limits how often something is done: a token bucket.
type pace struct{ until time.Time } // when the bucket will be full again

// next takes a token, and returns how long to wait before using it.
func (p *pace) next(now time.Time) time.Duration {
	if p.until.Before(now) {
		p.until = now
	}
	p.until = p.until.Add(carrierEvery)
	return max(0, p.until.Sub(now)-carriersAtOnce*carrierEvery)
}

// The first and the longest pause before another carrier is made.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// tellAfter is for how long a link may be without a carrier before the person is told.
const tellAfter = 10 * time.Second

// carry makes carriers for a link, one after the other, until the link ends or there was no working
// carrier for awayLimit.
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
				s.order.Tell("what you typed after the connection to the container was lost did not arrive: type it again when the terminal works again")
			}
			return
		default:
			pause = min(2*pause, maxPause)
			ended := errors.Is(err, docker.ErrNotRunning) // the container's end is told elsewhere
			if time.Since(last) > tellAfter && !told && !ended && ctx.Err() == nil {
				told = true
				s.order.Tell(fmt.Sprintf("the connection to the container is lost; the terminal works again when it is back: %s (%s)", quote(err.Error()),
					cmp.Or(fault.Hint(err), "or /restart the agent")))
			}
		}
		timer.Reset(max(pause, s.pace.next(time.Now())))
	}
}

// carryOnce uses one carrier until it breaks, and returns why. carried reports whether anything was
// received on it.
func (s *Stream) carryOnce(ctx context.Context, l *link.Link) (carried bool, err error) {
	conn, err := s.engine.Stream(ctx, s.container.ID(), s.order.Carry, s.order.User)
	if err != nil {
		return false, err
	}
	began := time.Now()
	err = l.Carry(ctx, conn, nil)
	return l.Carried().After(began), err
}
