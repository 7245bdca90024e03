package learn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Learned is what the tools have named.
type Learned struct {
	Sources []Source // ordered by ecosystem as the constants are
	// Notes say, each in a line for the person, what could not be found out and why. They
	// contain no secret.
	Notes []string
}

// asker collects what is learned of one ecosystem.
type asker struct {
	Host
	dir string // empty
	Learned
}

func (a *asker) add(s Source) { a.Sources = append(a.Sources, s) }

func (a *asker) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// Learn asks the tools of this machine. A tool that is missing or fails costs its own sources
// only and is told in a note. The error says that no tool could be asked at all.
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

// run asks one question in an empty directory, and looks at the registries that were named.
func (a *asker) run(ctx context.Context, ask func(*asker, context.Context)) error {
	dir, err := os.MkdirTemp(a.Dir, "learn-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a.dir = dir
	ask(a, ctx)
	if !a.Offline {
		for i := range a.Sources {
			a.look(ctx, &a.Sources[i])
		}
	}
	return nil
}
