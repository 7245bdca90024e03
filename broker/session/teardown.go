package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// teardown undoes the steps of a start in reverse order, all of them, whatever
// fails on the way.
type teardown struct {
	limit time.Duration // for a step
	steps []teardownStep
}

type teardownStep struct {
	name  string
	limit time.Duration
	do    func(context.Context) error
}

// push adds the step that undoes what was just done.
func (t *teardown) push(name string, do func(context.Context) error) {
	t.pushFor(t.limit, name, do)
}

// pushFor is push for a step that may take another time than most.
func (t *teardown) pushFor(limit time.Duration, name string, do func(context.Context) error) {
	t.steps = append(t.steps, teardownStep{name, limit, do})
}

// hurry gives the step of that name no more time than most.
func (t *teardown) hurry(name string, most time.Duration) {
	for i, step := range t.steps {
		if step.name == name {
			t.steps[i].limit = min(step.limit, most)
		}
	}
}

// run undoes everything and returns what failed.
func (t *teardown) run(ctx context.Context) error {
	var all []error
	for len(t.steps) > 0 {
		last := t.steps[len(t.steps)-1]
		t.steps = t.steps[:len(t.steps)-1]
		step, cancel := context.WithTimeoutCause(ctx, last.limit, fmt.Errorf("it took longer than %v", last.limit))
		if err := last.do(step); err != nil {
			all = append(all, fmt.Errorf("%s: %w", last.name, err))
		}
		cancel()
	}
	return errors.Join(all...)
}
