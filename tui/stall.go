package tui

import (
	"context"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const (
	// stalledAfter is how long a terminal may take no output until its view is stalled: nobody
	// sees what it shows.
	stalledAfter = 30 * time.Second
	// goneAfter is how long until the view ends.
	goneAfter = 10 * time.Minute
	// lookEvery is the time between two looks.
	lookEvery = time.Second
)

// followOutput tells whenever a terminal stalls, or takes output again, until ctx ends. behind
// says how long a write has been waiting for the terminal. The error says that it is given up.
func followOutput(ctx context.Context, behind func() time.Duration, tell func(stalled bool)) error {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	was := false
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil
		}
		waits := behind()
		if waits >= goneAfter {
			return fault.New("attach again from a terminal that does", "the terminal has taken no output for %v", goneAfter)
		}
		if now := waits >= stalledAfter; now != was {
			was = now
			tell(now)
		}
	}
}

// onStalled takes the view's size from every tab while nobody sees it.
func (m *Model) onStalled(msg stalledMsg) {
	m.stalled = msg.stalled
	m.arrange()
}
