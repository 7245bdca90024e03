package broker

import (
	"context"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// How often the container engine is asked whether it answers while agents run,
// and how long it may take.
const (
	watchEvery = time.Second
	watchLimit = 800 * time.Millisecond
)

// engineAway is what tabs say while the engine does not answer. Their agents may
// run on or not: nobody can know.
const engineAway = "the container engine does not answer; the agent cannot be seen or reached until it does"

// watchEngine tells the sessions when the container engine is away and when it is
// back. An engine that hangs shows in no other way: its streams just stand still.
func (b *Broker) watchEngine() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			return
		}
		if agents := b.contained(); len(agents) > 0 {
			trouble := b.askEngine()
			for _, s := range agents {
				s.SetTrouble(trouble)
			}
		}
	}
}

// live lists the sessions whose agents have not ended.
func (b *Broker) live() []*session.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.sessions), (*session.Session).Over)
}

// contained lists those of them whose agents run in a container.
func (b *Broker) contained() []*session.Session {
	return slices.DeleteFunc(b.live(), func(s *session.Session) bool { return !s.Contained() })
}

// askEngine returns what is wrong with the engine, or nothing. One that nobody
// has connected to yet has no agents to lose.
func (b *Broker) askEngine() string {
	client := b.engine.connected()
	if client == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(b.ctx, watchLimit)
	defer cancel()
	if err := client.Ping(ctx); err != nil && b.ctx.Err() == nil {
		return engineAway
	}
	return ""
}
