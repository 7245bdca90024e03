package broker

import (
	"context"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// How often the container engine is checked while agents run, and how long its answer may take.
const (
	watchEvery = time.Second
	watchLimit = 800 * time.Millisecond
)

// engineAway is what tabs say while the engine does not answer. Nobody can know then
// whether their agents still run.
const engineAway = "the container engine does not answer; the agent cannot be seen or reached until it does"

// watchEngine tells the sessions when the container engine stops answering and when it
// answers again. An engine of this machine is pinged, which is the only way to notice one
// that hangs: its streams stay open and carry nothing. An engine elsewhere is not pinged.
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

// live lists the sessions that have not ended.
func (b *Broker) live() []*session.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.sessions), (*session.Session).Over)
}

// contained lists the sessions of live whose agents run in a container.
func (b *Broker) contained() []*session.Session {
	return slices.DeleteFunc(b.live(), func(s *session.Session) bool { return !s.Contained() })
}

// askEngine returns what is wrong with the engine, or "". Before the first connection it returns
// "", because no agent runs yet.
func (b *Broker) askEngine() string {
	client := b.engine.connected()
	if client == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(b.ctx, watchLimit)
	defer cancel()
	if err := client.Alive(ctx); err != nil && b.ctx.Err() == nil {
		return engineAway
	}
	return ""
}
