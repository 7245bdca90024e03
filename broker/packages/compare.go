package packages

import (
	"context"
	"sync"
)

// comparison says once in what the tools of this machine differ from what agents use. It tells
// the sessions that are open when it is known, or else the next one.
type comparison struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	text string
	tell map[*Session]func(text string)
}

// begin asks in a goroutine, which end waits for. A nil ask says nothing.
func (c *comparison) begin(ask func(ctx context.Context) string) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.tell = cancel, make(map[*Session]func(string))
	if ask == nil {
		return
	}
	c.done.Go(func() {
		text := ask(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.text = text
		for _, tell := range c.tell {
			c.say(tell)
		}
	})
}

// say tells one session, which is enough. The caller holds the lock.
func (c *comparison) say(tell func(text string)) {
	if c.text != "" && tell != nil {
		tell(c.text)
		c.text = ""
	}
}

// open takes a session into account.
func (c *comparison) open(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell[s] = s.options.Notice
	c.say(s.options.Notice)
}

// close forgets a session.
func (c *comparison) close(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tell, s)
}

// end stops asking.
func (c *comparison) end() {
	c.cancel()
	c.done.Wait()
}
