package broker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// The places in the bar follow the order of the sessions: a new one comes last, one that replaces
// another or is resumed takes its place, and one that is closed leaves its place at once.
func TestPlacesInTheBar(t *testing.T) {
	b, first := admitting(t)
	b.config.MaxSessions = 9
	second, third := admitted(t, b, OpenRequest{}, ""), admitted(t, b, OpenRequest{}, "")
	task := admitted(t, b, OpenRequest{Idle: true}, "")
	last := admitted(t, b, OpenRequest{}, "")
	bar := func(what string, want ...*session.Session) {
		t.Helper()
		all, err := b.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, ids := make([]string, len(want)), make([]string, len(want))
		for i, s := range want {
			ids[i] = s.ID()
		}
		place := 0
		for _, s := range all {
			if s.Tab == place+1 && place < len(got) && !slices.Contains(got, s.ID) {
				got[place] = s.ID
				place++
			}
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	bar("opened", first, second, third, last)
	if task.Info().Tab != 0 {
		t.Error("a session without a terminal has a place")
	}
	by := admitted(t, b, OpenRequest{Replaces: second.ID()}, "")
	bar("before the one that is replaced is closed", first, second, by, third, last)
	closeNow := func(s *session.Session) {
		t.Helper()
		ended(s)
		if err := b.Close(context.WithoutCancel(t.Context()), s.ID()); err != nil {
			t.Fatal(err)
		}
	}
	closeNow(second)
	bar("replaced", first, by, third, last)
	ended(third)
	bar("ended", first, by, third, last)
	again := admitted(t, b, OpenRequest{Resume: third.ID()}, "")
	bar("resumed", first, by, again, last)
	if third.Info().Life == again.Info().Life {
		t.Error("a resumed session has the life of the former one")
	}
	closeNow(first)
	bar("closed", by, again, last)

	if err := b.Move(t.Context(), last.ID(), 1); err != nil {
		t.Fatal(err)
	}
	bar("moved to the front", last, by, again)
	if err := b.Move(t.Context(), last.ID(), 2); err != nil {
		t.Fatal(err)
	}
	bar("moved back", by, last, again)
	if err := b.Move(t.Context(), by.ID(), 99); err != nil {
		t.Fatal(err)
	}
	bar("moved to the end", last, again, by)
	for _, refused := range []struct {
		id    SessionID
		place int
	}{{by.ID(), 0}, {task.ID(), 1}} {
		if err := b.Move(t.Context(), refused.id, refused.place); err == nil || !strings.Contains(err.Error(), "cannot have place") {
			t.Errorf("%+v: %v", refused, err)
		}
	}
}

// Names and order outlive the process: a session that is taken back has its name and the place that
// it had among the others, in whatever order they are; one that replaces another has its name.
func TestNamesAndOrderAreKept(t *testing.T) {
	b, first := admitting(t)
	b.config.MaxSessions = 9
	all := []*session.Session{first, admitted(t, b, OpenRequest{}, ""), admitted(t, b, OpenRequest{}, "")}
	for i, s := range all {
		if err := s.Files().Make(stored.ContainerUser()); err != nil {
			t.Fatal(err)
		}
		if err := b.Rename(t.Context(), s.ID(), fmt.Sprint("tab ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Rename(t.Context(), first.ID(), strings.Repeat("x", stored.MaxName+1)); err == nil || first.Info().Name != "tab 0" {
		t.Errorf("a name without end: %v, %q", err, first.Info().Name)
	}
	if by := admitted(t, b, OpenRequest{Replaces: first.ID()}, ""); by.Info().Name != "tab 0" {
		t.Errorf("the name of the one that replaces it is %q", by.Info().Name)
	} else {
		ended(by)
		if err := b.Close(context.WithoutCancel(t.Context()), by.ID()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Move(t.Context(), all[2].ID(), 1); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		ended(s)
	}
	next, err := New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = next.Shutdown(context.WithoutCancel(t.Context())) })
	for _, i := range []int{1, 0, 2} {
		admitted(t, next, OpenRequest{Resume: all[i].ID()}, "")
	}
	admitted(t, next, OpenRequest{}, "")
	list, err := next.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"tab 2", "tab 0", "tab 1", ""}, got); diff != "" {
		t.Error(diff)
	}
}
