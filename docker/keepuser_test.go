package docker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// An engine that root runs keeps the numbers of users, and is not asked.
func TestKeepsUserOfRoot(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, order := hardenedOrder(ctx, t, fakeengine.Faults{})
	if keeps, err := c.KeepsUser(ctx, "no image"); !keeps || err != nil {
		t.Errorf("it keeps them: %v, %v", keeps, err)
	}
	order.User, order.Cmd = "0:0", []string{"true"}
	if _, err := c.StartDetached(ctx, order); err == nil || !strings.Contains(err.Error(), "is root") {
		t.Errorf("a container of root's is started: %v", err)
	}
}

// An engine that says that an ordinary user runs it and takes any mode of users gets the number 0.
// When it has lied, what is seen from inside tells that this is root.
func TestRootOutsideIsRefused(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c, order := hardenedOrder(ctx, t, fakeengine.Faults{Rootless: true})
	for _, image := range []string{order.Image, "no image"} { // the second time it is remembered
		if keeps, err := c.KeepsUser(ctx, image); keeps || err != nil {
			t.Fatalf("it keeps them: %v, %v", keeps, err)
		}
	}
	order.User = "0:0"
	report := look(ctx, t, c, order, buildLook(t), t.TempDir())
	if _, err := report.Judge(seen.Want{Rootless: true}); err == nil || !strings.Contains(err.Error(), "its user is root, also outside") {
		t.Errorf("it is judged: %v", err)
	}
}
