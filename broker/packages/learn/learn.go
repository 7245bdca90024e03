package learn

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Learned is what was learned from the tools.
type Learned struct {
	Sources []Source // in the order of the constants of ecosystems
	// Notes say what could not be found out and why, each in one line for the person. They contain
	// no secrets.
	Notes []string
}

// asker collects what is learned about one ecosystem.
type asker struct {
	Host
	dir string // empty
	Learned
}

func (a *asker) add(s Source) { a.Sources = append(a.Sources, s) }

func (a *asker) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// Learn asks the tools of this machine. If a tool is missing or fails, only its own sources are
// missing; a note says that it failed. Learn returns an error if it cannot make a directory for a
// tool, or when ctx ends.
func Learn(ctx context.Context, h Host) (Learned, error) {
	questions := []func(*asker, context.Context){(*asker).npm, (*asker).python, (*asker).golang, (*asker).cargo, (*asker).apt}
	parts := make([]asker, len(questions))
	errs := make([]error, len(questions))
	var wg sync.WaitGroup
	for i, ask := range questions {
		a := &parts[i]
		a.Host = h
		wg.Go(func() { errs[i] = a.run(ctx, ask) })
	}
	wg.Wait()
	var all Learned
	for i := range parts {
		all.Sources = append(all.Sources, parts[i].Sources...)
		all.Notes = append(all.Notes, parts[i].Notes...)
	}
	errs = append(errs, context.Cause(ctx))
	return all, errors.Join(errs...)
}

// run asks one question in an empty directory, and examines the registries in the answer.
func (a *asker) run(ctx context.Context, ask func(*asker, context.Context)) error {
	dir, done, err := a.empty()
	if err != nil {
		return err
	}
	defer done()
	a.dir = dir
	ask(a, ctx)
	if !a.Offline {
		for i := range a.Sources {
			a.look(ctx, &a.Sources[i])
		}
	}
	return nil
}
