package packages

import (
	"context"
	"sync"
)

// comparison compares the registries that this machine's tools use with those that agents use. It
// reports the result once, to a session that is open when the result arrives or to the next one.
type comparison struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	text    string // the result; "" before it arrives and after it was reported
	notices map[*Session]func(text string)
}

// start runs ask in a goroutine, which stop waits for. A nil ask is not run.
func (c *comparison) start(ask func(ctx context.Context) string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.notices = cancel, make(map[*Session]func(string))
	if ask == nil {
		return
	}
	c.done.Go(func() {
		text := ask(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.text = text
		for _, notice := range c.notices {
			c.report(notice)
		}
	})
}

// report reports the result to one session, unless another one has got it. The caller holds the
// lock.
func (c *comparison) report(notice func(text string)) {
	if c.text != "" && notice != nil {
		notice(c.text)
		c.text = ""
	}
}

// add adds a session.
func (c *comparison) add(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices[s] = s.options.Notice
	c.report(s.options.Notice)
}

// remove removes a session.
func (c *comparison) remove(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.notices, s)
}

func (c *comparison) stop() {
	c.cancel()
	c.done.Wait()
}
