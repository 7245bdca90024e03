package session

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTeardownRunsBackwardsAndOnce(t *testing.T) {
	var order []string
	stack := &teardown{limit: time.Second}
	for _, name := range []string{"a", "b", "c"} {
		stack.push(name, func(context.Context) error {
			order = append(order, name)
			if name == "b" {
				return errors.New("stuck")
			}
			return nil
		})
	}
	err := stack.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "b: stuck") {
		t.Errorf("got %v", err)
	}
	if err := stack.run(t.Context()); err != nil {
		t.Errorf("the second time: %v", err)
	}
	if want := []string{"c", "b", "a"}; !reflect.DeepEqual(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// hurry lowers the limit of one step and leaves the others' limits alone.
func TestTeardownHurries(t *testing.T) {
	stack := &teardown{limit: time.Hour}
	left := map[string]time.Duration{}
	for _, name := range []string{"slow", "hurried"} {
		stack.push(name, func(ctx context.Context) error {
			at, _ := ctx.Deadline()
			left[name] = time.Until(at)
			return nil
		})
	}
	stack.hurry("hurried", time.Minute)
	if err := stack.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left["hurried"] > time.Minute || left["slow"] < 30*time.Minute {
		t.Errorf("the steps had %v", left)
	}
}
