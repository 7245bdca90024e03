package daemon

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/shortid"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// Activity is what a view reports about its person.
type Activity struct {
	Used  atomic.Pointer[time.Time]        // when the person last did something
	Front atomic.Pointer[broker.SessionID] // the session whose tab is in front; nil or empty: none
	Away  atomic.Bool                      // the terminal has lost the focus
	// Mutes reports whether the person has muted a session's tab in this view; nil: no tab is muted.
	Mutes atomic.Pointer[func(broker.SessionID) bool]
}

// entry describes a view for other clients.
func (v *view) entry() wire.Client {
	c := v.client
	size := outer.SizeOf(v.out)
	c.Cols, c.Rows = size.Cols, size.Rows
	c.Session, c.Stopped, c.Stalled = v.front(), !v.present(), v.stalled.Load()
	c.Used = c.Since
	if used := v.activity.Used.Load(); used != nil {
		c.Used = *used
	}
	return c
}

// front returns the session whose tab is in front; empty: none.
func (v *view) front() broker.SessionID {
	if id := v.activity.Front.Load(); id != nil {
		return *id
	}
	return ""
}

// looked reports whether somebody with the right to operate is probably looking at a session's tab.
func (d *Daemon) looked(id broker.SessionID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.views, func(v *view) bool {
		return v.client.Rights == wire.Operate && !v.stalled.Load() && !v.activity.Away.Load() && v.front() == id
	})
}

// muted implements Muted.
func (d *Daemon) muted(id broker.SessionID) (yes, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.views {
		if v.client.Rights != wire.Operate {
			continue
		}
		if mutes := v.activity.Mutes.Load(); mutes == nil || !(*mutes)(id) {
			return false, true
		}
		known = true
	}
	return known, known
}

// listViews lists the clients that show a view, in the order in which they attached.
func (d *Daemon) listViews() []wire.Client {
	d.mu.Lock()
	views := slices.Clone(d.views)
	d.mu.Unlock()
	list := []wire.Client{}
	for _, v := range views {
		list = append(list, v.entry())
	}
	return list
}

// forgetTyped ends the receipts for what was typed at a client.
func (d *Daemon) forgetTyped(c wire.Client) {
	if d.Kicked != nil {
		d.Kicked(c.Client)
	}
}

// kick ends a client's view because another client has asked for it.
func (d *Daemon) kick(c *wire.Conn, f wire.Frame) {
	var k wire.Kick
	if f.Into(&k) != nil {
		return
	}
	d.mu.Lock()
	views := slices.Clone(d.views)
	d.mu.Unlock()
	ones := make([]shortid.One, len(views))
	for i, v := range views {
		ones[i].ID = v.client.ID
	}
	at, found, err := shortid.Find("client", k.Client, ones)
	switch {
	case err != nil:
		_ = c.Send(wire.KindRefused, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)})
	case !found:
		_ = c.Send(wire.KindRefused, wire.Refused{Reason: fmt.Sprintf("no client has the id %q", k.Client), Next: "'ironcurtain-mux clients ls' lists them"})
	default:
		v := views[at]
		v.kicked.Store(true)
		v.cancel()
		d.forgetTyped(v.client)
		_ = c.Send(wire.KindEnd, wire.End{Reason: fmt.Sprintf("%s at %s is detached", v.client.Name, v.client.Terminal)})
	}
}

// change runs a function that changes the views or the clients that wait for tasks, and calls
// Attended if that changes its value.
func (d *Daemon) change(views func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.attended()
	views()
	if now := d.attended(); now != was {
		d.Attended(now)
	}
}

// attended reports whether somebody may decide calls: at a view that is not stalled, or at a client
// that waits for a task. The caller holds the mutex.
func (d *Daemon) attended() bool {
	return d.attending > 0 || slices.ContainsFunc(d.views, func(v *view) bool { return !v.stalled.Load() && v.client.Rights != wire.See })
}
