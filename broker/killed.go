package broker

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// sweepWaiting records the waiting calls of killed multiplexers as withdrawn, for every
// session that nobody owns. It leaves out the sessions whose calls can wait again: those whose
// agents still run, and conversations with the built-in agent, which are resumed.
func (b *Broker) sweepWaiting(ctx context.Context, running []SessionID) error {
	dirs, err := filepath.Glob(stored.Layout{Dir: filepath.Join(b.config.Home, "sessions", "*")}.Waiting())
	if err != nil {
		return err
	}
	var all []error
	for _, dir := range dirs {
		id := filepath.Base(filepath.Dir(dir))
		if stored.ValidID(id) && !slices.Contains(running, id) && !b.goesOn(id) {
			all = append(all, b.sweepSession(ctx, id))
		}
	}
	return errors.Join(all...)
}

// goingOn returns the sessions of killed multiplexers whose conversations continue when they are
// resumed.
func (b *Broker) goingOn() (ids []SessionID) {
	all, err := stored.List(b.config.Home, nil)
	if err != nil {
		b.log.Warn("could not look for conversations that can be continued", "error", err)
	}
	for _, s := range all {
		if s.Detached && b.goesOn(s.ID) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// goesOn reports whether a session is a conversation with the built-in agent on a terminal.
func (b *Broker) goesOn(id SessionID) bool {
	r, err := stored.ReadRecord(stored.LayoutOf(b.config.Home, id))
	return err == nil && r.Agent == agent.BuiltinName && !r.NoTerminal
}

// sweepSession is sweepWaiting for one session.
func (b *Broker) sweepSession(ctx context.Context, id SessionID) error {
	l := stored.LayoutOf(b.config.Home, id)
	if len(l.WaitingCalls()) == 0 {
		return nil
	}
	lease, err := docker.AcquireLease(l.Lock())
	if errors.Is(err, docker.ErrLeaseHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(b.settleStored(ctx, id), lease.Release())
}

// settleStored is sweepSession for a session whose lease the caller holds.
func (b *Broker) settleStored(ctx context.Context, id SessionID) error {
	l := stored.LayoutOf(b.config.Home, id)
	if len(l.WaitingCalls()) == 0 {
		return nil
	}
	log, err := audit.Open(l.Audit(), audit.Options{Secrets: b.config.Secrets})
	if err != nil {
		return err
	}
	n, err := stored.WithdrawAll(ctx, l, id, log)
	if n > 0 {
		b.log.Info("calls that waited when the multiplexer ended are recorded as withdrawn", "session", id, "calls", n)
	}
	return errors.Join(err, log.Close())
}
