package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// teardown undoes the steps of a start in reverse order. It goes on when a step fails.
type teardown struct {
	limit time.Duration // how long a step may take, unless it has its own limit
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

// pushFor is push for a step with a limit of its own.
func (t *teardown) pushFor(limit time.Duration, name string, do func(context.Context) error) {
	t.steps = append(t.steps, teardownStep{name, limit, do})
}

// hurry lowers the limit of the step with that name to most.
func (t *teardown) hurry(name string, most time.Duration) {
	for i, step := range t.steps {
		if step.name == name {
			t.steps[i].limit = min(step.limit, most)
		}
	}
}

// run runs all steps and returns their errors.
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
