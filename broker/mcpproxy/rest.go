package mcpproxy

import (
	"context"
	"fmt"
	"time"
)

// rest is whether a server runs at all. One whose tools are known need not.
// Guarded by its backend's mu.
type rest struct {
	resting bool          // it does not run, and is started when a call needs it
	waking  chan struct{} // closed when it runs or could not be started; nil when nobody starts it
	failure error         // of the latest attempt
	calls   int           // that need it now
	used    time.Time     // when it was last needed, or started
}

// enter has the server run for a call, which ends with leave.
func (b *backend) enter(ctx context.Context) error {
	b.mu.Lock()
	b.rest.calls++
	waking := b.wake()
	b.mu.Unlock()
	if waking == nil {
		return nil
	}
	var err error
	select {
	case <-waking:
		b.mu.Lock()
		err = b.rest.failure
		b.mu.Unlock()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		b.leave()
		return fmt.Errorf("server %s could not be started, so nothing was done: %w", b.spec.Name, err)
	}
	return nil
}

// leave ends what enter began.
func (b *backend) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest.calls--
	b.rest.used = time.Now()
}

// rouse has the server started when it rests, without waiting for it.
func (b *backend) rouse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

// wake has the server started when it rests, and returns what is closed when that
// has worked out or not; nil when it does not rest. mu is held.
func (b *backend) wake() <-chan struct{} {
	if !b.rest.resting {
		return nil
	}
	if b.rest.waking == nil {
		b.rest.waking, b.rest.failure = make(chan struct{}), nil
		b.keeper.Go(b.rise)
	}
	return b.rest.waking
}

// rise starts a server that rested, and keeps it running.
func (b *backend) rise() {
	l, err := b.connect(b.ctx)
	if err == nil {
		b.proxy.rebuild() // what has changed meanwhile is found before the call goes on
	} else if b.ctx.Err() == nil {
		b.proxy.announce(Activity{Kind: ServerFailed, Server: b.spec.Name, Detail: err.Error()})
	}
	b.mu.Lock()
	waking := b.rest.waking
	b.rest.waking, b.rest.failure = nil, err
	if err == nil {
		b.rest.resting = false
	}
	b.mu.Unlock()
	close(waking)
	if err == nil {
		b.keep(l)
	}
}

// watch waits for the end of a running server. It returns false when the server is
// to be stopped, because nobody needs it any more.
func (b *backend) watch(l *link) bool {
	timer := time.NewTimer(b.proxy.limits.Rest)
	defer timer.Stop()
	due := timer.C
	if b.proxy.config.Known == nil {
		due = nil
	}
	for {
		select {
		case <-b.ctx.Done():
			return false
		case <-l.process.Done():
			return true
		case <-due:
			left := b.retire()
			if left <= 0 {
				return false
			}
			timer.Reset(left)
		}
	}
}

// retire notes that the server rests, or returns how long it must run on at least.
// One that was told its working directory would forget it.
func (b *backend) retire() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	remembers := b.git && b.proxy.workDir.Load() != nil
	if b.rest.calls > 0 || remembers {
		return b.proxy.limits.Rest
	}
	if left := b.proxy.limits.Rest - time.Since(b.rest.used); left > 0 {
		return left
	}
	b.link, b.up, b.rest.resting = nil, make(chan struct{}), true
	return 0
}
