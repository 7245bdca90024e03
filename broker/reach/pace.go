package reach

import "time"

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
