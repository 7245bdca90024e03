package broker

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// An escalation says what the automatic approval does with it: that a model judges, and
// later why the call is left to the person.
func TestTheLookIsTold(t *testing.T) {
	thought := make(chan struct{})
	model, _ := provided(t, func(w http.ResponseWriter, _ *http.Request) {
		<-thought
		w.WriteHeader(http.StatusForbidden)
	})
	d := automatic(t, AutoApprove{Confirm: true, Model: model})
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := func() Escalation {
		for e := range events {
			if e.Escalation != nil {
				return *e.Escalation
			}
		}
		t.Fatal("no more events")
		return Escalation{}
	}
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	settled := d.read(notes)
	first := next()
	if first.Auto == nil || first.Auto.Receipt != 1 || first.Auto.Reason != "" || first.Auto.Since.IsZero() {
		t.Fatalf("%+v", first.Auto)
	}
	close(thought)
	second := next()
	if second.ID != first.ID || !strings.Contains(second.Auto.Reason, "did not confirm") || !second.Auto.Since.Equal(first.Auto.Since) {
		t.Fatalf("%+v", second.Auto)
	}
	d.asksPerson(settled, 1)
	settled = d.read(filepath.Join(d.outside, "other.txt")) // the rules of orders alone leave it to the person
	third := next()
	if third.Auto == nil || third.Auto.Reason == "" {
		t.Fatalf("%+v", third.Auto)
	}
	d.asksPerson(settled, 2)
}
