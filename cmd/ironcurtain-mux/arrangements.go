package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// maxArrangements is how many clients' arrangements are kept.
const maxArrangements = 64

// arrangements keeps how views had arranged their tabs when they ended. The arrangements of the
// views that are shown are written to the file, too, for a daemon that takes the agents back.
type arrangements struct {
	mu      sync.Mutex
	kept    []arranged                    // the newest last
	shown   map[*daemon.Activity]arranged // of the views that are shown
	changed chan struct{}                 // one value; further ones are dropped
}

// newArrangements returns the arrangements that a former daemon has written to a file, if any.
func newArrangements(file string, log *slog.Logger) *arrangements {
	a := &arrangements{shown: map[*daemon.Activity]arranged{}, changed: make(chan struct{}, 1)}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &a.kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.kept = nil
		log.Warn("the arrangements of tabs cannot be read", "error", err)
	}
	return a
}

// write writes the arrangements to the file whenever they change, until ctx ends.
func (a *arrangements) write(ctx context.Context, file string, log *slog.Logger) {
	for {
		select {
		case <-a.changed:
		case <-ctx.Done():
			return
		}
		data, err := json.Marshal(a.now())
		if err == nil {
			err = wholefile.Write(file, data, 0o600)
		}
		if err != nil {
			log.Warn("the arrangements of tabs cannot be written", "error", err)
		}
	}
}

// now returns what would be kept if all views ended now, ordered by their last use.
func (a *arrangements) now() []arranged {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.kept)
	for _, view := range slices.SortedFunc(maps.Keys(a.shown), func(x, y *daemon.Activity) int { return usedAt(x).Compare(usedAt(y)) }) {
		all = with(all, a.shown[view])
	}
	return all
}

// usedAt returns when a view's person last did something there; zero: never.
func usedAt(view *daemon.Activity) (at time.Time) {
	if used := view.Used.Load(); used != nil {
		at = *used
	}
	return at
}

// note records how a view that is shown has arranged the tabs.
func (a *arrangements) note(c daemon.Client, now tui.Arrangement) {
	a.mu.Lock()
	a.shown[c.Activity] = arranged{nameOf(c), now}
	a.mu.Unlock()
	a.signal()
}

// end forgets a view that is no longer shown.
func (a *arrangements) end(c daemon.Client) {
	a.mu.Lock()
	delete(a.shown, c.Activity)
	a.mu.Unlock()
	a.signal()
}

func (a *arrangements) signal() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// arranged is the arrangement of a view. Name is the name that the person has given its client;
// empty: none.
type arranged struct {
	Name string
	tui.Arrangement
}

// nameOf returns the name that the person has given a client; empty: none.
func nameOf(c daemon.Client) string {
	if c.Named {
		return c.Identity.Name
	}
	return ""
}

// of returns the arrangement kept for a client's name, else the newest.
func (a *arrangements) of(c daemon.Client) tui.Arrangement {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) == 0 {
		return tui.Arrangement{}
	}
	name := nameOf(c)
	at := slices.IndexFunc(a.kept, func(k arranged) bool { return name != "" && k.Name == name })
	if at < 0 {
		at = len(a.kept) - 1
	}
	return a.kept[at].Arrangement
}

// newest returns the arrangement of the client whose view ended last.
func (a *arrangements) newest() tui.Arrangement { return a.of(daemon.Client{}) }

// keep keeps the arrangement of a client and replaces an earlier one of the same name.
func (a *arrangements) keep(c daemon.Client, now tui.Arrangement) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = with(a.kept, arranged{nameOf(c), now})
}

// with adds an arrangement to others and replaces an earlier one of the same name.
func with(all []arranged, one arranged) []arranged {
	all = append(slices.DeleteFunc(all, func(k arranged) bool { return k.Name == one.Name }), one)
	return all[max(0, len(all)-maxArrangements):]
}

// forget forgets the kept arrangements.
func (a *arrangements) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = nil
}

// all returns the kept arrangements, the newest last.
func (a *arrangements) all() []arranged {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.kept)
}
