package mcpproxy

import (
	"context"
	"sync"
	"time"
)

// maxBackoff is the longest pause before a server is started again.
const maxBackoff = 30 * time.Second

// steady is how long a server must have run so that it is restarted without a long pause.
const steady = time.Minute

// relistPause is the least time between two lists of a server's tools, because a server may
// report changes of them all the time.
const relistPause = time.Second

// toolsChanged notes that the server has reported a change of its tools.
func (b *backend) toolsChanged() {
	select {
	case b.stale <- struct{}{}:
	default: // that is noted already
	}
}

// relist lists the tools again whenever the server has reported a change, until the server
// ends.
func (b *backend) relist(sc *serverConn) {
	for {
		select {
		case <-b.stale:
			b.listAgain(sc)
		case <-sc.peer.Done():
			return
		}
		select {
		case <-time.After(relistPause):
		case <-sc.peer.Done():
			return
		}
	}
}

// listAgain lists the tools again and offers them to the agent.
func (b *backend) listAgain(sc *serverConn) {
	ctx, cancel := context.WithTimeout(b.ctx, b.proxy.limits.Start)
	defer cancel()
	tools, err := b.list(ctx, sc)
	if err != nil {
		return // what was listed before stays; calls are judged by it
	}
	b.mu.Lock()
	if b.conn == sc {
		b.tools = tools
	}
	b.mu.Unlock()
	b.proxy.rebuild()
	b.proxy.announce(Activity{Kind: ToolsChanged, Server: b.spec.Name})
}

// keep waits for the server's end and starts it again, after longer pauses each time that it ends
// soon. It returns when the server was stopped until a call needs it, or when the backend ends.
func (b *backend) keep(sc *serverConn) {
	pause := b.proxy.limits.Backoff
	for {
		began := time.Now()
		var listing sync.WaitGroup
		listing.Go(func() { b.relist(sc) })
		ended := b.turnedOff() || b.watch(sc)
		if ended {
			b.down()
			sc.awaitOutput()
		}
		_ = sc.Close()
		listing.Wait()
		sc.dropGivenUp()
		if !ended || b.leaveOff() {
			return
		}
		b.proxy.announce(Activity{Kind: ServerDown, Server: b.spec.Name, Detail: sc.peer.Err().Error()})
		if time.Since(began) > steady {
			pause = b.proxy.limits.Backoff
		}
		if sc = b.restart(&pause); sc == nil {
			return
		}
		b.proxy.rebuild()
	}
}

// down notes that the server has ended or is about to end. It returns the connection unless that
// was noted before. It also forgets the working directory of the git server.
func (b *backend) down() *serverConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	sc := b.conn
	if sc == nil {
		return nil
	}
	b.conn, b.up = nil, make(chan struct{})
	if b.git {
		b.proxy.workDir.Store(nil)
	}
	return sc
}

// restart tries to start the server until it runs. It returns nil when the backend ends, or when
// the next call is to try again: for a server over HTTP after one attempt, and for one that a
// person has turned off.
func (b *backend) restart(pause *time.Duration) *serverConn {
	for {
		timer := time.NewTimer(*pause)
		select {
		case <-b.ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if b.leaveOff() {
			return nil
		}
		*pause = min(2**pause, maxBackoff)
		sc, err := b.connect(b.ctx)
		if err == nil {
			return sc
		}
		if b.spec.Remote != nil {
			b.stopUntilCall(err)
			return nil
		}
		b.proxy.announce(Activity{Kind: ServerDown, Server: b.spec.Name, Detail: err.Error()})
	}
}

// turnedOff reports whether a person has turned the server off.
func (b *backend) turnedOff() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.off
}

// leaveOff reports whether a person has turned the server off. If so, the server counts as stopped.
func (b *backend) leaveOff() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off {
		b.demand.stopped = true
	}
	return b.off
}
