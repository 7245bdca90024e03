package mcpproxy

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// demand says whether a server has to run. A server whose tools are known runs only while
// calls need it. The backend's mu guards it.
type demand struct {
	stopped  bool          // the server does not run; the next call starts it
	starting chan struct{} // closed when the start has succeeded or failed; nil when there is none
	failure  error         // of the latest start
	calls    int           // that need the server now
	used     time.Time     // when a call last needed the server, or when it was started
}

// acquire makes sure that the server runs, until release.
func (b *backend) acquire(ctx context.Context) error {
	b.mu.Lock()
	b.demand.calls++
	starting := b.ensureStarted()
	b.mu.Unlock()
	if starting == nil {
		return nil
	}
	var err error
	select {
	case <-starting:
		b.mu.Lock()
		err = b.demand.failure
		b.mu.Unlock()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		b.release()
		return fmt.Errorf("server %s could not be started, so nothing was done: %w", b.spec.Name, err)
	}
	return nil
}

// release ends a call's need of the server.
func (b *backend) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.demand.calls--
	b.demand.used = time.Now()
}

// startAhead starts a stopped server without waiting for it.
func (b *backend) startAhead() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ensureStarted()
}

// ensureStarted starts a stopped server. It returns a channel that is closed when the
// start has succeeded or failed, or nil when the server runs. mu is held.
func (b *backend) ensureStarted() <-chan struct{} {
	if !b.demand.stopped {
		return nil
	}
	if b.demand.starting == nil {
		b.demand.starting, b.demand.failure = make(chan struct{}), nil
		b.keeper.Go(b.startOnDemand)
	}
	return b.demand.starting
}

// startOnDemand starts a stopped server and keeps it running.
func (b *backend) startOnDemand() {
	l, err := b.connect(b.ctx)
	if err == nil {
		b.proxy.rebuild() // so that a changed tool is found before the call goes on
	} else if b.ctx.Err() == nil {
		b.proxy.announce(Activity{Kind: ServerFailed, Server: b.spec.Name, Detail: err.Error()})
	}
	b.mu.Lock()
	starting := b.demand.starting
	b.demand.starting, b.demand.failure = nil, err
	if err == nil {
		b.demand.stopped = false
	}
	b.mu.Unlock()
	close(starting)
	if err == nil {
		b.keep(l)
	}
}

// watch waits for the end of a running server. It returns false when the server is idle
// and has to be stopped.
func (b *backend) watch(l *link) bool {
	timer := time.NewTimer(b.proxy.limits.Idle)
	defer timer.Stop()
	due := timer.C
	if b.known() == nil {
		due = nil
	}
	for {
		select {
		case <-b.ctx.Done():
			return false
		case <-b.rested:
			return false
		case <-l.peer.Done():
			return true
		case <-due:
			left := b.stopIfIdle()
			if left <= 0 {
				return false
			}
			timer.Reset(left)
		}
	}
}

// stopIfIdle marks an idle server as stopped and returns 0, or returns how long it has to
// run on at least. A git server that was told a working directory keeps running, because it
// would forget the directory.
func (b *backend) stopIfIdle() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	remembers := b.git && b.proxy.workDir.Load() != nil
	if b.demand.calls > 0 || remembers {
		return b.proxy.limits.Idle
	}
	if left := b.proxy.limits.Idle - time.Since(b.demand.used); left > 0 {
		return left
	}
	b.link, b.up, b.demand.stopped = nil, make(chan struct{}), true
	return 0
}

// Known holds the tools that servers offered at their first start. Proxies that share one
// start a server only when a call needs it, and stop it when no call has for a while. A
// server takes a second or two to start, and a hundred megabytes while it is idle. All
// servers of one name must be the same program. The zero value is empty; a nil *Known stays
// empty.
type Known struct {
	mu    sync.Mutex
	tools map[string][]tool // by the server's name
}

// of returns the tools of a server, or nil when they are not known.
func (k *Known) of(server string) []tool {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools[server]
}

// learn notes the tools of a server. It keeps the first list, so that a later difference is
// a changed definition for every session.
func (k *Known) learn(server string, tools []tool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tools == nil {
		k.tools = make(map[string][]tool)
	}
	if k.tools[server] == nil {
		k.tools[server] = tools
	}
}
